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
  std::string variant;  ///< Variant::text: "contiguous", or what is otherwise: "x=stepped"

  bool is_contiguous() const;
};

/// subject/dtype/sample/variant/device
std::string call_id(const CallKey& key);

/// "cpu", "cuda"
std::string device_name(c10::DeviceType device);

/// The inverse of call_id over these specs. Throws SetupError that names the part that is unknown and what
/// there is.
CallKey parse_call_id(const std::vector<Spec>& specs, std::string_view id);

/// The dtype of the sample's tensor argument in this call: its own, or the one being swept.
c10::ScalarType dtype_of(const TensorArgument& argument, const CallKey& key);

}  // namespace opgate
