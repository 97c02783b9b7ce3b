// The key of a call, which distinguishes it from all others, and its id:
// identity_conv/float32/2x3x257/x=stepped/cpu.
#pragma once

#include <c10/core/DeviceType.h>
#include <opgate/sample.h>

#include <string>
#include <string_view>
#include <vector>

namespace opgate {

struct Spec;

struct CallKey {
  const Spec* spec = nullptr;
  const Sample* sample = nullptr;
  c10::ScalarType dtype = c10::kFloat;
  c10::DeviceType device = c10::kCPU;
  std::string variant;  ///< a Variant::text: "contiguous", or what differs from that, such as "x=stepped"

  bool simulated =
      false;  ///< on a simulated device of type `device`, whose results are never those of a real one

  bool is_contiguous() const;
};

/// The id of a call: subject/dtype/sample/variant/device.
std::string call_id(const CallKey& key);

/// The same call on the CPU, with the same values.
CallKey on_cpu(CallKey key);

/// Which orders of blocks calls of the sample have, for BlockOrders: the same ones for all of its layouts, so
/// that their results can be compared. `call`, below 256, is for calls that need other orders each.
unsigned block_orders_of(const CallKey& key, unsigned call = 0);

/// The name of the simulated CUDA device in ids and results.
inline constexpr const char* kSimulatedDevice = "sim";

/// "cpu", "cuda", or "sim" for a simulated device.
std::string device_name(c10::DeviceType device, bool simulated = false);

/// The inverse of call_id() for calls of these specs. Throws SetupError that names the unknown part of the
/// id and lists the known ones.
CallKey parse_call_id(const std::vector<Spec>& specs, std::string_view id);

/// The dtype of the sample's tensor argument in this call: the one that the sample fixes, or else the
/// call's.
c10::ScalarType dtype_of(const TensorArgument& argument, const CallKey& key);

}  // namespace opgate
