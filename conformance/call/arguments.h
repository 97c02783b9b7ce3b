// The arguments of one call, materialised: values generated, tensors laid out, storages photographed.
#pragma once

#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "call/call_key.h"
#include "call/value_cache.h"
#include "layouts/geometry.h"
#include "memory/storage_image.h"

namespace opgate {

struct TensorInput {
  size_t position;  ///< in the schema
  std::string name;
  at::Tensor tensor;
  Geometry geometry;
  StorageImage before;  ///< the whole storage as it was before the call
};

struct Arguments {
  torch::jit::Stack stack;
  std::vector<TensorInput> tensors;
};

enum class Lay { as_the_case_says, contiguous };

/// The arguments that `key` names, each tensor in a storage of its own with kGapByte in its gaps; or the same
/// values contiguous.
Arguments materialise(const CallKey& key, ValueCache& cache, Lay lay = Lay::as_the_case_says);

/// True where the case's layout leaves the sample's values as they are: no stride 0, no other sizes.
bool keeps_values(const Arguments& arguments, const Sample& sample);

/// A tensor on `device` with this geometry over a fresh storage, gaps filled with kGapByte. `values` is
/// contiguous, on the CPU, and has the geometry's sizes; along a dim of stride 0 its first slice counts.
at::Tensor lay_out(const at::Tensor& values, const Geometry& geometry, c10::DeviceType device);

}  // namespace opgate
