// Inputs that the engine damages by itself: each argument of a sample, in each way in which callers get it
// wrong. A spec need not mention them. checks/error_raises.cpp says how an operator must answer them.
#pragma once

#include <optional>
#include <vector>

#include "inputs/arguments.h"
#include "inputs/damage.h"

namespace opgate {

/// One argument of a sample, damaged in one way.
struct BadInput {
  enum class Kind {
    shape,      ///< one tensor has a dim more or less, or one size is larger or smaller by one
    dtype,      ///< one tensor has another dtype than in the sample, with the same values
    device,     ///< one tensor is on the CPU among tensors of an accelerator
    undefined,  ///< at::Tensor() where a tensor is needed
    index,      ///< one element of an integer tensor is outside its domain
    group,      ///< valid indices or offsets, of which none belongs to one group (segment, bin, row)
    special,    ///< one element of a floating tensor is NaN, infinite or -0
    integer,    ///< an integer is 0, -1 or 2^62
    number,     ///< a floating number, or a Scalar, is 0, -1, NaN or infinite; a Scalar is complex
    flag,       ///< a bool has the other value
    choice,     ///< a dtype, memory format or layout is another one
    absent,     ///< an optional argument is None
    list,       ///< a list has another length or a bad entry
    text,       ///< a string is another word
  };
  InputDamage damage;
  Kind kind;
  size_t position;                     ///< of the argument in the schema
  Argument instead;                    ///< replaces the argument
  std::optional<double> element = {};  ///< replaces one element of the tensor
  /// Whether the bad input is made when the call's dtype is `dtype`; null: for every dtype.
  bool (*accepts_dtype)(c10::ScalarType dtype) = nullptr;
  /// It is not known whether callers answer for this value: see judging/refusals/assumed_index.h.
  bool assumed = false;
};

/// Tensors of another rank, size, dtype or device, undefined tensors, elements outside their domain, and
/// groups that nothing belongs to.
std::vector<BadInput> bad_tensors(const Spec& spec, const Sample& sample);

/// Bad arguments that are not single tensors: numbers out of range, lists of another length. Arguments that
/// the spec trusts are skipped.
std::vector<BadInput> bad_values(const Spec& spec, const Sample& sample);

/// Every bad input of a sample; no two have the same damage. Values of arguments that the spec trusts are not
/// damaged, except those of a draft that are only assumed to be trusted: values outside of the recorded ones,
/// and as large as sizes of other tensors, in the first sample where the argument has elements.
///
/// Two kinds are not made: tensors on the meta device, for which PyTorch's own operators return garbage, and
/// damage to all tensors at once, which is just another sample (value.dtype tries all dtypes).
std::vector<BadInput> bad_inputs(const Spec& spec, const Sample& sample);

/// The bad input that the key's variant names: one of bad_inputs(), or damage to an element that is named by
/// its index, with a value that bad_inputs() puts into the middle one, with kSubnormal or kSmallestNormal.
/// Those are not among bad_inputs(), because a plan of them would have a case for each element. Throws
/// SetupError if the sample has no such bad input.
BadInput find_bad_input(const CallKey& key);

/// The arguments of a call whose variant is a bad input. An undefined tensor is left out of
/// Arguments::tensors.
Arguments materialize_bad_input(const CallKey& key, ValueCache& cache, const MaterializeOptions& options);

}  // namespace opgate
