// What a spec says about speed: the arguments that are timed, the baseline, and how fast the operator must
// be.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <map>
#include <optional>
#include <string>

namespace opgate {

/// How many times as fast as the baseline the operator must be, on every device or on one. 0.95 allows the
/// operator to be 5% slower.
struct SpeedLimit {
  std::optional<double> everywhere;
  std::map<c10::DeviceType, double> by_device;

  /// The limit on one device; none if it has no limit there.
  std::optional<double> on(c10::DeviceType device) const;
  bool is_set() const { return everywhere.has_value() || !by_device.empty(); }
};

/// One set of arguments on which the operator is timed beside its baseline.
struct Bench {
  Sample sample;  ///< its name, unique among the spec's benches, and its arguments
  c10::ScalarType dtype = c10::kFloat;
  Reference baseline;       ///< if none is given, fit_benches() uses the spec's reference
  std::string baseline_op;  ///< the baseline's name if it is an operator, otherwise empty
  SpeedLimit forward;
  SpeedLimit backward;
};

}  // namespace opgate
