#include "inputs/arguments.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/errors.h"
#include "base/tensors_in.h"
#include "inputs/bad_inputs.h"
#include "process/libraries/replaced_kernels.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// The element size is a template argument, so that each memcpy is one instruction. A TensorIterator would
// take longer than the call that is checked.
template <size_t kBytes>
void scatter_elements(const std::byte* from, const Geometry& geometry, std::byte* to) {
  const size_t last = geometry.sizes.size() - 1;
  const int64_t step = geometry.strides[last] * static_cast<int64_t>(kBytes);
  std::vector<int64_t> index(last, 0);
  for (int64_t done = 0; done < geometry.numel(); done += geometry.sizes[last]) {
    int64_t at = geometry.offset;
    bool first = true;  // false in the slices after the first along a dim of stride 0, which are skipped
    for (size_t dim = 0; dim < last; ++dim) {
      at += index[dim] * geometry.strides[dim];
      first = first && (geometry.strides[dim] != 0 || index[dim] == 0);
    }
    std::byte* element = to + at * static_cast<int64_t>(kBytes);
    const int64_t count = step == 0 ? 1 : geometry.sizes[last];
    for (int64_t i = 0; first && i < count; ++i, element += step)
      std::memcpy(element, from + (done + i) * static_cast<int64_t>(kBytes), kBytes);
    for (size_t dim = last; dim-- > 0 && ++index[dim] == geometry.sizes[dim];) index[dim] = 0;
  }
}

// Copies the row-major elements of `values` to their places in the storage at `to`.
void scatter(const at::Tensor& values, const Geometry& geometry, std::byte* to) {
  const auto* const from = static_cast<const std::byte*>(values.const_data_ptr());
  if (values.numel() == 0) return;
  if (geometry.sizes.empty()) {
    std::memcpy(to + geometry.offset * values.element_size(), from, values.element_size());
    return;
  }
  switch (values.element_size()) {
    case 1:
      return scatter_elements<1>(from, geometry, to);
    case 2:
      return scatter_elements<2>(from, geometry, to);
    case 4:
      return scatter_elements<4>(from, geometry, to);
    case 8:
      return scatter_elements<8>(from, geometry, to);
    case 16:
      return scatter_elements<16>(from, geometry, to);
    default:
      TORCH_INTERNAL_ASSERT(false, "an element of ", values.element_size(), " bytes");
  }
}

// The values that must lie in memory so that the view shows `values`.
at::Tensor stored(const at::Tensor& values, View view) {
  if (view == View::conjugated) return values.conj().resolve_conj();
  return view == View::negated ? values.neg() : values;
}

at::Tensor seen_through(const at::Tensor& tensor, View view) {
  if (view == View::conjugated) return tensor.conj();
  return view == View::negated ? at::_neg_view(tensor) : tensor;
}

// Writes `values` into the storage of `first`, and returns a tensor there with `geometry`.
at::Tensor lay_into(const at::Tensor& first, const at::Tensor& values, const Geometry& geometry) {
  at::Tensor tensor = at::empty({0}, first.options().dtype(values.scalar_type()));
  tensor.set_(first.storage(), geometry.offset, geometry.sizes, geometry.strides);
  tensor.copy_(values);
  return tensor;
}

at::Generator seeded(const GeneratorArgument& argument, c10::DeviceType device) {
  if (device == c10::kCPU) return at::make_generator<at::CPUGeneratorImpl>(argument.seed);
  at::Generator generator = at::globalContext().getAcceleratorHooksInterface(device).getNewGenerator();
  generator.set_current_seed(argument.seed);
  return generator;
}

class ArgumentMaker {
 public:
  ArgumentMaker(const CallKey& key, ValueCache& cache, const MaterializeOptions& options)
      : key_(key), cache_(cache), options_(options) {}

  Arguments make() {
    placed_ = options_.contiguous ? arrange_contiguous(key_) : arrange(key_);
    for (size_t i = 0; i < placed_.size(); ++i) made_.push_back(tensor(i));
    Arguments arguments;
    size_t next = 0;
    for (size_t position = 0; position < key_.sample->arguments.size(); ++position) {
      const Argument& argument = key_.sample->arguments[position];
      if (argument.tensor() != nullptr) {
        arguments.stack.emplace_back(made_[next++]);
      } else if (const auto* list = argument.tensors()) {
        const bool may_hold_none = takes_none_in_list(position);
        c10::List<c10::IValue> tensors(may_hold_none ? c10::OptionalType::ofTensor()
                                                     : c10::TensorType::get());
        for (const TensorArgument& entry : *list)
          tensors.push_back(entry.is_none ? c10::IValue() : c10::IValue(made_[next++]));
        arguments.stack.emplace_back(std::move(tensors));
      } else if (const GeneratorArgument* generator = argument.generator()) {
        arguments.stack.emplace_back(seeded(*generator, key_.device));
      } else if (argument.is_device()) {
        arguments.stack.emplace_back(c10::Device(key_.device));
      } else {
        arguments.stack.push_back(*argument.other());
      }
    }
    for (size_t i = 0; i < placed_.size(); ++i) {
      TensorPlacement& placed = placed_[i];
      StorageSnapshot before = options_.take_snapshots ? storage_snapshot(made_[i]) : StorageSnapshot();
      arguments.tensors.push_back({placed.slot.position, placed.slot.element, std::move(placed.slot.name),
                                   made_[i], std::move(placed.geometry), placed.storage, std::move(before)});
    }
    return arguments;
  }

 private:
  bool takes_none_in_list(size_t position) const {
    const auto& op = key_.spec->op;
    return op && is_list_of_optional_tensors(op->schema().arguments()[position].type());
  }

  at::Tensor tensor(size_t i) {
    const TensorPlacement& placed = placed_[i];
    if (placed.values != i && placed.storage != i) return made_[placed.values];
    at::Tensor values =
        cache_.values(key_, placed_[placed.values].slot, placed.geometry.sizes, options_.value_seed);
    if (options_.contiguous) values = as_overlapping(i, std::move(values));
    if (placed.storage != i) return lay_into(made_[placed.storage], values, placed.geometry);
    return lay_out(values, placed.geometry, key_.device, placed.view, options_.gap);
  }

  // The contiguous version of an argument whose elements share memory must show the values that share it.
  at::Tensor as_overlapping(size_t i, at::Tensor values) {
    if (key_.is_contiguous()) return values;
    if (laid_out_.empty()) laid_out_ = arrange(key_);
    const Geometry& geometry = laid_out_[i].geometry;
    if (!geometry.overlaps()) return values;
    return lay_out(values, geometry, c10::kCPU).contiguous();
  }

  const CallKey& key_;
  ValueCache& cache_;
  const MaterializeOptions& options_;
  std::vector<TensorPlacement> placed_;
  std::vector<TensorPlacement> laid_out_;
  std::vector<at::Tensor> made_;
};

}  // namespace

bool is_resizable_out(const Spec& spec, const TensorInput& input) {
  if (!spec.op || !spec.op->schema().arguments().at(input.position).is_out()) return false;
  return input.geometry.numel() == 0 || spec.replaces_kernel();  // torch's own resize others, with a warning
}

bool may_change_metadata(const Spec& spec, const TensorInput& input) {
  return is_resizable_out(spec, input) ||
         (is_mutable(spec, input.position) && spec.op->hasTag(at::Tag::inplace_view));
}

const TensorInput* Arguments::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorInput::name);
  return found == tensors.end() ? nullptr : &*found;
}

void Arguments::replace(const TensorInput& input, const at::Tensor& tensor) {
  c10::IValue& value = stack.at(input.position);
  if (!input.element) {
    value = tensor;
    return;
  }
  c10::List<c10::IValue> list = value.toList().copy();
  list.set(*input.element, tensor);
  value = list;
}

at::Tensor lay_out(const at::Tensor& values, const Geometry& geometry, c10::DeviceType device, View view,
                   std::byte gap) {
  at::Tensor tensor = at::detail::empty_cpu({geometry.elements}, values.scalar_type());
  const at::Tensor source = stored(values, view);
  const bool plain = geometry.is_contiguous() && geometry.elements == values.numel();
  if (plain) {
    if (values.numel() > 0) std::memcpy(tensor.mutable_data_ptr(), source.const_data_ptr(), source.nbytes());
  } else {
    std::memset(tensor.mutable_data_ptr(), static_cast<int>(gap), tensor.nbytes());
    scatter(source.contiguous(), geometry, static_cast<std::byte*>(tensor.mutable_data_ptr()));
  }
  if (device != c10::kCPU) tensor = tensor.to(device);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(geometry.sizes, geometry.strides, geometry.offset);
  return seen_through(tensor, view);
}

Arguments materialize(const CallKey& key, ValueCache& cache, const MaterializeOptions& options) {
  const KernelScope scope(Purpose::own_computing);
  const auto cannot = [&](const char* why) {
    return spec_error("{}: sample {} of {} cannot be made: {}", key.sample->where, key.sample->name,
                      key.spec->name, why);
  };
  try {
    if (is_bad_input(key.variant)) return materialize_bad_input(key, cache, options);
    return ArgumentMaker(key, cache, options).make();
  } catch (const std::bad_alloc&) {
    throw cannot("not enough memory");
  } catch (const c10::Error& error) {
    throw cannot(error.what_without_backtrace());
  }
}

bool keeps_values(const CallKey& key) {
  const std::vector<TensorPlacement> placed = arrange(key);
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].geometry.sizes != placed[i].slot.described->shape || placed[i].geometry.overlaps() ||
        placed[i].values != i) {
      return false;
    }
  }
  return true;
}

}  // namespace opgate
