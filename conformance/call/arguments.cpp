#include "call/arguments.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "layouts/layout.h"

namespace opgate {
namespace {

Geometry geometry_for(const CallKey& key, const std::string& name, const Shape& shape) {
  const auto [argument, layout] = key.layout_parts();
  if (argument != name) return geometry(shape, dense_strides(shape));
  auto offered = find_placement(shape, layout);
  TORCH_INTERNAL_ASSERT(offered, "the plan offers no layout ", layout);
  return std::move(offered->placement.geometry);
}

// Along stride 0 all elements are one: the first slice stands for all.
at::Tensor first_slices(at::Tensor tensor, const Geometry& geometry) {
  for (size_t dim = 0; dim < geometry.sizes.size(); ++dim) {
    if (geometry.strides[dim] == 0 && geometry.sizes[dim] > 1)
      tensor = tensor.narrow(static_cast<int64_t>(dim), 0, 1);
  }
  return tensor;
}

}  // namespace

at::Tensor lay_out(const at::Tensor& values, const Geometry& geometry, c10::DeviceType device) {
  at::Tensor tensor = at::detail::empty_cpu({geometry.elements}, values.scalar_type());
  const bool plain = geometry.is_contiguous() && geometry.elements == values.numel();
  if (plain) {
    std::memcpy(tensor.mutable_data_ptr(), values.const_data_ptr(), values.nbytes());
  } else {
    std::memset(tensor.mutable_data_ptr(), static_cast<int>(kGapByte), tensor.nbytes());
  }
  if (device != c10::kCPU) tensor = tensor.to(device);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(geometry.sizes, geometry.strides, geometry.offset);
  if (!plain) first_slices(tensor, geometry).copy_(first_slices(values, geometry));
  return tensor;
}

Arguments materialise(const CallKey& key, ValueCache& cache, Lay lay) {
  Arguments arguments;
  for (size_t i = 0; i < key.sample->arguments.size(); ++i) {
    const Argument& argument = key.sample->arguments[i];
    const TensorArgument* described = argument.tensor();
    if (described == nullptr) {
      arguments.stack.push_back(argument.other());
      continue;
    }
    std::string name = argument_name(*key.spec, i);
    Geometry placed = geometry_for(key, name, described->shape);
    at::Tensor values = cache.values(key, i, placed.sizes);
    if (lay == Lay::contiguous) {
      if (placed.overlaps()) values = first_slices(values, placed).expand(placed.sizes).contiguous();
      placed = geometry(placed.sizes, dense_strides(placed.sizes));
    }
    at::Tensor tensor = lay_out(values, placed, key.device);
    arguments.stack.emplace_back(tensor);
    StorageImage before = storage_image(tensor);
    arguments.tensors.push_back(
        {i, std::move(name), std::move(tensor), std::move(placed), std::move(before)});
  }
  return arguments;
}

bool keeps_values(const Arguments& arguments, const Sample& sample) {
  return std::ranges::all_of(arguments.tensors, [&](const TensorInput& input) {
    return input.geometry.sizes == sample.arguments[input.position].tensor()->shape &&
           !input.geometry.overlaps();
  });
}

}  // namespace opgate
