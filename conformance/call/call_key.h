// What tells one call from another, and its text: identity_conv/float32/2x3x257/x=stepped/cpu.
#pragma once

#include <c10/core/DeviceType.h>
#include <opgate/spec.h>

#include <string>
#include <string_view>
#include <vector>

namespace opgate {

struct CallKey {
  const Spec* spec = nullptr;
  const Sample* sample = nullptr;
  c10::ScalarType dtype = c10::kFloat;
  c10::DeviceType device = c10::kCPU;
  std::string layout;  ///< "contiguous", or the argument that is laid out otherwise: "x=stepped"

  bool is_contiguous() const;
  /// {"x", "stepped"}; both empty for contiguous.
  std::pair<std::string_view, std::string_view> layout_parts() const;
};

/// subject/dtype/sample/layout/device
std::string call_id(const CallKey& key);

/// "cpu", "cuda"
std::string device_name(c10::DeviceType device);

/// The inverse of call_id over these specs. Throws SetupError that names the part that is unknown and what
/// there is.
CallKey parse_call_id(const std::vector<Spec>& specs, std::string_view id);

/// The dtype of the sample's tensor argument in this call: its own, or the one being swept.
c10::ScalarType dtype_of(const TensorArgument& argument, const CallKey& key);

/// The name of the sample's argument at `position`, from the schema; models have "input0", "input1" ...
std::string argument_name(const Spec& spec, size_t position);

}  // namespace opgate
