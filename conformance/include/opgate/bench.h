// The speed half of a spec: the operator beside a baseline on the same data.
//
//   spec.bench({uniform({4096, 1024})}).forward(0.95).backward(0.9);  // at least 0.95 times the baseline's
//   speed spec.bench({uniform({1, 80, 64})}).named("BEVDet").against([](const at::Tensor& x) { ...
//   }).forward(3.0);
//
// `opgate bench` measures them; `opgate run` does not.
#pragma once

#include <c10/core/DeviceType.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <map>
#include <optional>
#include <string>

namespace opgate {

/// How many times as fast as the baseline the operator must be: on every device, or on one.
struct SpeedLimit {
  std::optional<double> everywhere;
  std::map<c10::DeviceType, double> by_device;

  std::optional<double> on(c10::DeviceType device) const;
  bool is_set() const { return everywhere.has_value() || !by_device.empty(); }
};

/// One set of arguments on which the operator is timed beside its baseline.
struct Bench {
  Sample sample;  ///< its name, unique among the spec's benches, and its arguments
  c10::ScalarType dtype = c10::kFloat;
  Reference baseline;       ///< none: the spec's own reference
  std::string baseline_op;  ///< its name, where the baseline is an operator
  SpeedLimit forward;
  SpeedLimit backward;
};

/// The words that follow spec.bench(...). Each throws SpecError, naming file and line, for what contradicts
/// itself.
class BenchWriter {
 public:
  explicit BenchWriter(Bench& bench) : bench_(bench) {}

  /// By default the shapes: "4096x1024".
  BenchWriter& named(std::string name);

  /// Of the tensors that no `of` fixes; by default Float.
  BenchWriter& dtype(c10::ScalarType dtype);

  /// What it is compared with, in place of the spec's reference: an operator, such as "aten::clone", or a
  /// callable over the operator's C++ argument types. It gets the operator's own tensors, in their own dtype.
  BenchWriter& against(std::string op_name);
  template <ReferenceFunction Function>
  BenchWriter& against(Function function) {
    bench_.baseline = reference_from(std::move(function));
    bench_.baseline_op.clear();
    return *this;
  }

  /// The operator must be at least so many times as fast as the baseline: 0.95 allows it 5 % less speed.
  /// Without a limit it is measured, and nothing is demanded.
  BenchWriter& forward(double ratio);
  BenchWriter& forward(c10::DeviceType device, double ratio);

  /// The same of its derivative, of an operator that promises `differentiable`.
  BenchWriter& backward(double ratio);
  BenchWriter& backward(c10::DeviceType device, double ratio);

 private:
  double checked(double ratio, const char* word) const;

  Bench& bench_;
};

}  // namespace opgate
