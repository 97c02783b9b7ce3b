// An AOTInductor package that OpGate made. It has a manifest of its calls, from which their inputs are
// regenerated, so that Python and C++ exchange no tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/error.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "inputs/arguments.h"

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace opgate {

struct Spec;

/// One call inside a package.
struct PackagedCall {
  std::string id;
  /// Only the subject, its accuracy, and the sample, which suffice to regenerate the inputs; never null.
  std::shared_ptr<Spec> spec;
  c10::ScalarType dtype;
  std::string variant;
  size_t outputs = 0;      ///< number of tensors that it returns
  bool in_pieces = false;  ///< the package holds ATen's operators, which the operator or model computes with
  std::string eager;       ///< digest() of what eager Python returned when the package was made
  std::vector<at::Tensor> eager_results;  ///< the same, on the CPU, for a model in pieces; none for others
};

/// Thrown where this machine lacks the device that a package was made for.
struct DeviceMissing : SetupError {
  using SetupError::SetupError;
};

/// An operator whose schema differs from the one that a package was compiled for.
struct SchemaChange {
  std::string op;  ///< its name
  std::string then, now;

  std::string in_words() const;
};

class Package {
 public:
  /// The input or output tensors of each call, in the order of calls().
  using Tensors = std::vector<std::vector<at::Tensor>>;

  /// Reads the manifest and loads the package; up to `runners` threads can then run it at the same time.
  /// Throws SetupError for a file that is missing, is truncated, has no manifest, or needs an operator that
  /// no loaded library defines, and DeviceMissing.
  explicit Package(std::filesystem::path file, size_t runners = 1);
  ~Package();

  const std::filesystem::path& file() const { return file_; }
  c10::DeviceType device() const { return device_; }
  const std::string& torch_version() const { return torch_; }
  const std::vector<PackagedCall>& calls() const { return calls_; }

  /// The schemas that have changed since the package was compiled: of all operators, or only of the
  /// operator `of`.
  std::vector<SchemaChange> changed_schemas(std::string_view of = "") const;

  /// The key of a packaged call, for regenerating its inputs. Points into this object.
  CallKey key(const PackagedCall& call) const;

  /// The inputs of each call, regenerated.
  Tensors inputs(MaterializeOptions options = {}) const;

  /// Runs the package on these inputs. Throws std::exception with AOTInductor's own message.
  Tensors run(const Tensors& inputs);

  /// The outputs for the regenerated inputs; the package runs only at the first call. Throws as above.
  const Tensors& run();

 private:
  std::filesystem::path file_;
  c10::DeviceType device_ = c10::kCPU;
  std::string torch_;
  std::vector<std::pair<std::string, std::string>> schemas_;  // operator, schema when the package was made
  std::vector<PackagedCall> calls_;
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
  Tensors outputs_;
};

}  // namespace opgate
