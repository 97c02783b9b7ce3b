// The tensors of a sample, those inside lists one by one.
#pragma once

#include <opgate/spec.h>

#include <string>
#include <vector>

namespace opgate {

struct CallKey;

struct TensorSlot {
  size_t position;                  ///< of the argument in the schema
  std::optional<size_t> element;    ///< in its list, for a Tensor[] argument
  std::string name;                 ///< "x", or "xs[1]"
  const TensorArgument* described;  ///< as the sample wrote it
};

/// In schema order.
std::vector<TensorSlot> tensor_slots(const Spec& spec, const Sample& sample);

/// The name of the sample's argument at `position`, from the schema; models have "input0", "input1" ...
std::string argument_name(const Spec& spec, size_t position);

/// True where the schema declares the argument at `position` mutable: Tensor(a!).
bool is_mutable(const Spec& spec, size_t position);

/// True where all rows may be one row: not of what is written, nor of values that mean something only
/// together, such as offsets.
bool can_be_expanded(const Spec& spec, const TensorSlot& slot);

}  // namespace opgate
