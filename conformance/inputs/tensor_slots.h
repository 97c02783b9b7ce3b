// The tensors of a sample; each tensor inside a list counts by itself.
#pragma once

#include <opgate/sample.h>

#include <optional>
#include <string>
#include <vector>

namespace opgate {

struct CallKey;
struct Spec;

struct TensorSlot {
  size_t position;                  ///< of the argument in the schema
  std::optional<size_t> element;    ///< index in the list, for a Tensor[] argument
  std::string name;                 ///< "x", or "xs[1]"
  const TensorArgument* described;  ///< the sample's description of it
};

/// The tensors of `sample` in schema order.
std::vector<TensorSlot> tensor_slots(const Spec& spec, const Sample& sample);

/// The schema's name of the argument at `position`; for models and classes "input0", "input1" ...
std::string argument_name(const Spec& spec, size_t position);

/// Whether the schema declares the argument at `position` mutable: Tensor(a!).
bool is_mutable(const Spec& spec, size_t position);

/// Whether elements of the tensor may share memory, so that their values are the same. Not for tensors that
/// are written, nor for values that are valid only together, such as offsets.
bool can_overlap(const Spec& spec, const TensorSlot& slot);

}  // namespace opgate
