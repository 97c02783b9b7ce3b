// The speed part of a spec: the operator is timed beside a baseline on the same data.
//
//   // at least 0.95 times the baseline's speed
//   spec.bench({uniform({4096, 1024})}).forward(0.95).backward(0.9);
//   // another baseline than the reference
//   spec.bench({uniform({1, 80, 64})}).named("BEVDet").against([](const at::Tensor& x) { ... })
//       .forward(3.0);
//
// `opgate bench` measures them; `opgate run` does not.
#pragma once

#include <c10/core/DeviceType.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <string>
#include <utility>

namespace opgate {

struct Bench;

/// The words that follow spec.bench(...). A contradiction, in these words or with the operator's schema, is
/// a SpecError that names file and line; it is thrown here or when the spec is read.
class BenchWriter {
 public:
  explicit BenchWriter(Bench& bench) : bench_(bench) {}

  /// Names this bench; by default the shapes name it: "4096x1024". No two benches of a spec share a name.
  BenchWriter& named(std::string name);

  /// The dtype of the tensors whose dtype no `of` fixes; by default Float. The bench runs on each device
  /// for which the spec declares this dtype.
  BenchWriter& dtype(c10::ScalarType dtype);

  /// The baseline, in place of the spec's reference: an operator, such as "aten::clone", or a callable over
  /// the operator's C++ argument types. It gets tensors of the operator's own dtype, which are not widened,
  /// on the operator's device.
  BenchWriter& against(std::string op_name);
  template <ReferenceFunction Function>
  BenchWriter& against(Function function) {
    return against_function(reference_from(std::move(function)));
  }

  /// The forward call must be at least `ratio` times as fast as the baseline, where the ratio is the
  /// baseline's time divided by the operator's: 0.95 allows the operator 5 % less speed. On every device,
  /// or on one device alone, whose limit replaces the general one. Without a limit the speed is measured,
  /// and nothing is demanded. Throws SpecError if `ratio` is not above 0 and finite.
  BenchWriter& forward(double ratio);
  BenchWriter& forward(c10::DeviceType device, double ratio);

  /// The same for the backward pass. The operator must promise `differentiable`, and must not write to its
  /// arguments.
  BenchWriter& backward(double ratio);
  BenchWriter& backward(c10::DeviceType device, double ratio);

 private:
  BenchWriter& against_function(Reference baseline);
  double checked(double ratio, const char* word) const;

  Bench& bench_;
};

}  // namespace opgate
