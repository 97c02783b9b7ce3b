// An AOTInductor package that OpGate made: it carries a manifest of the calls inside, from which the inputs
// are regenerated; no tensors are exchanged between Python and C++.
#pragma once

#include <ATen/core/Tensor.h>
#include <opgate/error.h>
#include <opgate/spec.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "call/arguments.h"

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace opgate {

/// One call inside a package.
struct PackagedCall {
  std::string id;
  Spec spec;  ///< subject and sample, as much as regenerating the inputs takes
  c10::ScalarType dtype;
  std::string variant;
  size_t outputs = 0;  ///< tensors that it returns
  std::string eager;   ///< digest() of what eager Python returned when the package was made
};

/// This machine lacks the device that a package was made for.
struct DeviceMissing : SetupError {
  using SetupError::SetupError;
};

/// An operator whose schema is not the one that a package was compiled for.
struct SchemaChange {
  std::string op;  ///< its name
  std::string then, now;

  std::string in_words() const;
};

class Package {
 public:
  /// The tensors of each call in order, those that go in or those that come out.
  using Tensors = std::vector<std::vector<at::Tensor>>;

  /// Reads the manifest and loads the package; as many threads as there are `runners` can then run it at the
  /// same time. Throws SetupError for a file that is missing, truncated, without a manifest, or whose
  /// operators no loaded library defines, and DeviceMissing.
  explicit Package(std::filesystem::path file, size_t runners = 1);
  ~Package();

  const std::filesystem::path& file() const { return file_; }
  c10::DeviceType device() const { return device_; }
  const std::string& torch_version() const { return torch_; }
  const std::vector<PackagedCall>& calls() const { return calls_; }

  /// What became of the schemas that the package was compiled for, where they are others now: all of them, or
  /// that of one operator.
  std::vector<SchemaChange> changed_schemas(std::string_view of = "") const;

  /// The key of a packaged call, for regenerating its inputs. Points into this object.
  CallKey key(const PackagedCall& call) const;

  /// The inputs of each call, regenerated.
  Tensors inputs(const Making& making = {}) const;

  /// Runs the package on these inputs. Throws std::exception with AOTInductor's own message.
  Tensors run(const Tensors& inputs);

  /// Runs it on its own inputs, once.
  const Tensors& run();

 private:
  std::filesystem::path file_;
  c10::DeviceType device_ = c10::kCPU;
  std::string torch_;
  std::vector<std::pair<std::string, std::string>> schemas_;  // operator, schema then
  std::vector<PackagedCall> calls_;
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
  Tensors outputs_;
};

}  // namespace opgate
