// The arguments of one call, materialised: values generated, tensors laid out, storages photographed.
#pragma once

#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "call/arrangement.h"
#include "call/call_key.h"
#include "call/value_cache.h"
#include "memory/storage_image.h"

namespace opgate {

struct TensorInput {
  size_t position;                ///< of its argument in the schema
  std::optional<size_t> element;  ///< in its list, for a Tensor[] argument
  std::string name;               ///< "x", "xs[1]"
  at::Tensor tensor;
  Geometry geometry;
  size_t storage;       ///< inputs of the same number share a storage
  StorageImage before;  ///< the whole storage as it was before the call; empty where none was taken
};

struct Arguments {
  torch::jit::Stack stack;
  std::vector<TensorInput> tensors;

  const TensorInput* find(std::string_view name) const;
  /// Puts another tensor in the place of an input.
  void replace(const TensorInput& input, const at::Tensor& tensor);
};

/// What may differ between two makings of the same call's arguments.
struct Making {
  bool contiguous = false;   ///< the same values, each tensor contiguous in a storage of its own
  std::byte gap = kGapByte;  ///< of every byte of a storage that no element covers
  uint64_t stream = 0;       ///< other values of the same domains, where it is not 0
  bool photographed = true;  ///< TensorInput::before is wanted
};

/// The arguments that `key` names. Throws SetupError that names the sample's place for what cannot be made,
/// such as a tensor too big for memory.
Arguments materialise(const CallKey& key, ValueCache& cache, const Making& making = {});

/// True where the case's variant leaves the sample's values as they are: no stride 0, no other sizes, no
/// argument that is the same as another.
bool keeps_values(const CallKey& key);

/// A tensor on `device` with this geometry over a fresh storage, its gaps filled with `gap`. `values` is
/// contiguous, on the CPU, and has the geometry's sizes; along a dim of stride 0 its first slice counts.
at::Tensor lay_out(const at::Tensor& values, const Geometry& geometry, c10::DeviceType device,
                   View view = View::plain, std::byte gap = kGapByte);

}  // namespace opgate
