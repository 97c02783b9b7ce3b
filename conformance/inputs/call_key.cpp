#include "inputs/call_key.h"

#include <c10/core/Device.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/choices.h"
#include "base/dtypes.h"
#include "base/errors.h"
#include "device/accelerator.h"
#include "device/simulator.h"
#include "inputs/variant.h"
#include "layouts/layout.h"
#include "spec/spec.h"
#include "values/counter.h"

namespace opgate {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Range, class Projection>
std::vector<std::string> names_of(const Range& range, Projection name) {
  std::vector<std::string> names;
  for (const auto& part : range) names.emplace_back(std::invoke(name, part));
  return names;
}

// Throws unless the variant is one that the plan has for this sample.
void check_variant(const CallKey& key, std::string_view id) {
  if (key.is_contiguous()) return;
  const std::vector<Variant> choices = variants(*key.spec, *key.sample);
  if (std::ranges::find(choices, key.variant, &Variant::text) != choices.end()) return;
  throw setup_error("{}: sample {} of {} has no variant '{}'; {}", id, key.sample->name, key.spec->id,
                    key.variant, choices_for(key.variant, names_of(choices, &Variant::text)));
}

}  // namespace

bool CallKey::is_contiguous() const { return variant == kContiguous; }

std::string device_name(c10::DeviceType device, bool simulated) {
  return simulated ? kSimulatedDevice : c10::DeviceTypeName(device, /*lower_case=*/true);
}

std::string call_id(const CallKey& key) {
  return fmt::format("{}/{}/{}/{}/{}", key.spec->id, dtype_name(key.dtype), key.sample->name, key.variant,
                     device_name(key.device, key.simulated));
}

CallKey on_cpu(CallKey key) {
  key.device = c10::kCPU;
  key.simulated = false;
  return key;
}

unsigned block_orders_of(const CallKey& key, unsigned call) {
  constexpr int kBitsOfSample = 24;
  const uint64_t sample = stream_key(key.spec->id + '/' + key.sample->name);
  return static_cast<unsigned>(sample >> (64 - kBitsOfSample)) + (call << kBitsOfSample);
}

CallKey parse_call_id(const std::vector<Spec>& specs, std::string_view id) {
  const std::vector<std::string_view> parts = split(id, '/');
  if (parts.size() != 5)
    throw setup_error("'{}' is no call id; write it as OP/DTYPE/SAMPLE/VARIANT/DEVICE", id);
  CallKey key;
  const auto spec =
      std::ranges::find_if(specs, [&](const Spec& s) { return s.id == parts[0] || s.name == parts[0]; });
  if (spec == specs.end()) {
    throw setup_error("{}: no spec for '{}'; {}", id, parts[0],
                      choices_for(parts[0], names_of(specs, &Spec::id)));
  }
  key.spec = &*spec;
  const auto dtype = dtype_from_name(parts[1]);
  if (!dtype) throw setup_error("{}: '{}' is no dtype; write it as in torch.float32", id, parts[1]);
  key.dtype = *dtype;
  key.sample = spec->find_sample(parts[2]);
  if (key.sample == nullptr) {
    throw setup_error("{}: {} has no sample '{}'; {}", id, spec->id, parts[2],
                      choices_for(parts[2], names_of(spec->samples, &Sample::name)));
  }
  key.variant = parts[3];
  check_variant(key, id);
  key.simulated = parts[4] == kSimulatedDevice;
  const auto device = key.simulated ? kSimulatedType : device_type_named(parts[4]);
  if (!device) {
    throw setup_error("{}: '{}' is none of the devices {}, {}", id, parts[4],
                      fmt::join(device_type_names(), ", "), kSimulatedDevice);
  }
  key.device = *device;
  if (!spec->dtypes.contains(key.device)) {
    throw setup_error("{}: {} is not promised on {}", id, spec->id, parts[4]);
  }
  return key;
}

c10::ScalarType dtype_of(const TensorArgument& argument, const CallKey& key) {
  return argument.dtype.value_or(key.dtype);
}

}  // namespace opgate
