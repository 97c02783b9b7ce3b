// Materializes the arguments of one call: generates the values, lays out the tensors, and takes snapshots
// of their storages.
#pragma once

#include <ATen/core/stack.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/call_key.h"
#include "inputs/tensor_placement.h"
#include "inputs/value_cache.h"
#include "memory/storage_snapshot.h"

namespace opgate {

struct TensorInput {
  size_t position;                ///< of its argument in the schema
  std::optional<size_t> element;  ///< index in the list, for a Tensor[] argument
  std::string name;               ///< "x", "xs[1]"
  at::Tensor tensor;
  Geometry geometry;
  size_t storage;          ///< inputs with the same number share a storage
  StorageSnapshot before;  ///< the whole storage as it was before the call; empty if none was taken
};

struct Arguments {
  torch::jit::Stack stack;
  std::vector<TensorInput> tensors;

  /// The tensor input of that name; null if there is none.
  const TensorInput* find(std::string_view name) const;
  /// Replaces an input by another tensor in `stack`; `tensors` keeps the old one.
  void replace(const TensorInput& input, const at::Tensor& tensor);
};

/// Whether the input is an `out` argument without elements, which PyTorch's operators resize; of a kernel
/// over one of these, any `out` argument.
bool is_resizable_out(const Spec& spec, const TensorInput& input);

/// Whether the operator may change shape, strides and storage of the input, too: it is a resizable `out`, or
/// it is mutable and the operator has the tag inplace_view, as aten::t_ has.
bool may_change_metadata(const Spec& spec, const TensorInput& input);

/// A value_seed for checks that need a second set of values. They share it, so that the set is generated
/// once.
inline constexpr uint64_t kOtherValues = 1;

/// What may differ when the arguments of the same call are made again.
struct MaterializeOptions {
  bool contiguous = false;     ///< the same values, each tensor contiguous in a storage of its own
  std::byte gap = kGapByte;    ///< fills every byte of a storage that no element covers
  uint64_t value_seed = 0;     ///< other values of the same domains, where it is not 0
  bool take_snapshots = true;  ///< fill TensorInput::before
};

/// The arguments that `key` names. Throws SpecError with the sample's place if they cannot be made, for
/// example because a tensor is too large for memory.
Arguments materialize(const CallKey& key, ValueCache& cache, const MaterializeOptions& options = {});

/// True if the call's variant keeps the sample's values: no elements that share memory, no other sizes, and
/// no argument that is the same tensor as another.
bool keeps_values(const CallKey& key);

/// A tensor on `device` with this geometry over a new storage, its gaps filled with `gap`. `values` must be
/// contiguous, on the CPU, and of the geometry's sizes. Of values that share an element, one is used: along a
/// dim of stride 0 the first.
at::Tensor lay_out(const at::Tensor& values, const Geometry& geometry, c10::DeviceType device,
                   View view = View::plain, std::byte gap = kGapByte);

}  // namespace opgate
