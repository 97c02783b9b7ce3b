#include "record/described_call.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/values.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <opgate_sim/loaded.h>
#include "base/dtypes.h"
#include "base/errors.h"
#include "base/tensors_in.h"
#include "device/device.h"
#include "inputs/call_key.h"
#include "spec/json/sample_json.h"

namespace opgate {
namespace {

using nlohmann::json;

// Tensors of up to this many elements are recorded number by number, because boxes, offsets and weights
// mean something. For larger tensors only the range is kept, so that a file of samples stays readable.
constexpr int64_t kNumbersKept = 256;

// From its first element to its last one.
size_t bytes_spanned(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return static_cast<size_t>(last + 1) * tensor.itemsize();
}

// FSDP frees the storage of parameters, and derivatives that are zero have none.
bool has_memory(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return true;
  if (!tensor.has_storage() || !tensor.unsafeGetTensorImpl()->storage_initialized()) return false;
  const size_t begin = static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
  return begin + bytes_spanned(tensor) <= tensor.storage().nbytes();
}

void demand_describable(const at::Tensor& tensor) {
  const auto unfit = [](std::string_view what) { throw SpecError(std::string(what)); };
  if (tensor.is_nested()) unfit("a nested tensor");
  if (tensor.is_mkldnn()) unfit("a tensor in the layout of oneDNN");
  if (tensor.layout() != at::kStrided) unfit("a sparse tensor");
  // Its dtype does not take part in type promotion, which no sample can say.
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) unfit("a Python number instead of a tensor");
  if (tensor.is_quantized()) unfit("a quantized tensor");
  const c10::DispatchKeySet keys = tensor.key_set();
  if (keys.has_any(c10::DispatchKeySet(c10::python_ks)))
    unfit("a tensor subclass (while tracing, a fake tensor)");
  if (keys.has(c10::DispatchKey::Functionalize)) unfit("a functional tensor (while tracing)");
  if (keys.has(c10::DispatchKey::FuncTorchBatched)) unfit("a batched tensor (in vmap)");
  if (keys.has(c10::DispatchKey::FuncTorchGradWrapper)) unfit("a wrapped tensor (in torch.func.grad)");
  if (const auto& types = device_types(); std::ranges::find(types, tensor.device().type()) == types.end())
    unfit(fmt::format("a tensor on {}", c10::DeviceTypeName(tensor.device().type(), /*lower_case=*/true)));
  const Dtypes known = every_dtype();
  if (std::ranges::find(known, tensor.scalar_type()) == known.end())
    unfit("a tensor of a dtype that OpGate makes none of");
  if (tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) unfit("a tensor of symbolic sizes");
  if (!has_memory(tensor)) unfit("a tensor whose memory is not allocated");
}

bool is_tensor(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

json value_as_json(const c10::IValue& value) {
  if (value.isDevice() && value.toDevice().type() != c10::kMeta)
    return to_json(Sample{"", {device_of_case}, ""}).at("arguments").at(0);
  if (value.isGenerator()) return to_json(Sample{"", {generator(0)}, ""}).at("arguments").at(0);
  return to_json(Sample{"", {Argument(value)}, ""}).at("arguments").at(0);
}

json metadata(const at::Tensor& tensor) {
  demand_describable(tensor);
  json described{{"shape", tensor.sizes().vec()},
                 {"dtype", dtype_name(tensor.scalar_type())},
                 {"device", device_name(tensor.device().type())}};
  if (tensor.is_conj() || tensor.is_neg()) described["view"] = tensor.is_conj() ? "conj" : "neg";
  if (!tensor.is_contiguous()) described["strides"] = tensor.strides().vec();
  if (tensor.storage_offset() != 0) described["offset"] = tensor.storage_offset();
  // The saved tensors of a backward pass require gradients, too, but the caller does not ask for them.
  if (tensor.requires_grad() && c10::GradMode::is_enabled()) described["requires_grad"] = true;
  return described;
}

// The number that the text is. std::stod would read it by the locale of the program that is recorded.
double number_in(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The shortest decimal number that rounds to this value.
template <class T>
double shortest(T value) {
  if constexpr (std::is_same_v<T, float>) return number_in(fmt::format("{}", value));
  if constexpr (std::is_same_v<T, c10::Half>)
    return number_in(fmt::format("{:.5g}", static_cast<float>(value)));
  if constexpr (std::is_same_v<T, c10::BFloat16>)
    return number_in(fmt::format("{:.4g}", static_cast<float>(value)));
  return static_cast<double>(value);
}

// The elements of a tensor in row-major order, whatever its strides. The host can read them at `first`.
std::vector<double> numbers_of(const at::Tensor& tensor, const void* first) {
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(tensor.numel()));
  const int64_t dims = tensor.dim();
  visit_dtype(tensor.scalar_type(), [&]<class T>() {
    if constexpr (!Opaque<T> && !c10::is_complex<T>::value) {
      const T* data = static_cast<const T*>(first);
      std::vector<int64_t> index(static_cast<size_t>(dims), 0);
      for (int64_t i = 0; i < tensor.numel(); ++i) {
        int64_t at = 0;
        for (int64_t dim = 0; dim < dims; ++dim) at += index[static_cast<size_t>(dim)] * tensor.stride(dim);
        numbers.push_back(tensor.is_neg() ? -shortest(data[at]) : shortest(data[at]));
        for (int64_t dim = dims - 1; dim >= 0; --dim) {
          if (++index[static_cast<size_t>(dim)] < tensor.size(dim)) break;
          index[static_cast<size_t>(dim)] = 0;
        }
      }
    }
  });
  return numbers;
}

Domain range_of(const std::vector<double>& numbers, bool integral) {
  std::optional<double> low, high;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    low = std::min(low.value_or(number), number);
    high = std::max(high.value_or(number), number);
  }
  if (!low) return {"uniform", {}};
  if (*low == *high) return {"literal", {*low}};
  if (integral && std::ranges::is_sorted(numbers) && *low >= 0) return {"sorted_indices", {*high + 1}};
  return {"uniform", {*low, *high}};
}

Domain values_at(const at::Tensor& tensor, const void* first) {
  std::vector<double> numbers = numbers_of(tensor, first);
  if (numbers.empty()) return {"uniform", {}};  // the dtype holds bits and not numbers
  if (tensor.numel() <= kNumbersKept) return {"literal", std::move(numbers)};
  return range_of(numbers, c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true));
}

// A program that is recorded on an accelerator would have to wait for it; one on the simulated device does
// not notice that its memory is copied (opgate_sim.h).
Domain values_of(const at::Tensor& tensor) {
  static const auto peek = OPGATE_SIMULATED(opgate_sim_peek);
  if (tensor.numel() == 0 || tensor.is_complex()) return {"uniform", {}};
  if (tensor.is_cpu()) return values_at(tensor, tensor.const_data_ptr());
  if (peek != nullptr) {
    std::vector<std::byte> copied(bytes_spanned(tensor));
    if (peek(copied.data(), tensor.const_data_ptr(), copied.size()) != 0)
      return values_at(tensor, copied.data());
  }
  if (!c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)) return {"uniform", {}};
  throw spec_error("integers on {}, whose values are not read", device_title(tensor.device().type()));
}

template <class OfTensor>
json described(const c10::IValue& value, const OfTensor& of_tensor) {
  if (is_tensor(value)) return of_tensor(value.toTensor());
  if (value.isTensor() || value.isNone()) return nullptr;  // callers pass an undefined tensor as None
  const bool may_hold_none = is_list_of_optional_tensors(value.type());
  if (!value.isTensorList() && !may_hold_none) return value_as_json(value);
  json list = json::array();
  for (const c10::IValue& entry : value.toListRef()) {
    if (!is_tensor(entry) && !may_hold_none) throw SpecError("a list with an undefined tensor");
    list.push_back(is_tensor(entry) ? of_tensor(entry.toTensor()) : json());
  }
  return {{"tensors", std::move(list)}};
}

}  // namespace

std::string kind_of_call(c10::ArrayRef<c10::IValue> arguments) {
  json kind = json::array();
  for (const c10::IValue& value : arguments) kind.push_back(described(value, metadata));
  return kind.dump();
}

json described_arguments(c10::ArrayRef<c10::IValue> arguments) {
  const auto with_values = [](const at::Tensor& tensor) {
    json whole = metadata(tensor);
    whole["values"] = to_string(values_of(tensor));
    return whole;
  };
  json all = json::array();
  for (const c10::IValue& value : arguments) all.push_back(described(value, with_values));
  return all;
}

}  // namespace opgate
