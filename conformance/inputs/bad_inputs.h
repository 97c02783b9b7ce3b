// Inputs that the engine damages by itself: each argument of a sample, in each way in which callers get it
// wrong. A spec need not mention them. checks/error_raises.cpp says how an operator must answer them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/arguments.h"
#include "spec/spec.h"

namespace opgate {

/// `BadInput::given` of the largest integer that is tried.
inline constexpr const char* kHugeInteger = "2^62";

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
    list,       ///< a list has another length or a bad entry
    text,       ///< a string is another word
  };
  std::string text;  ///< the variant's text: "bad:weight.rank+1", "bad:indices.value=-1", "bad:eps=nan"
  Kind kind;
  std::string argument;  ///< "weight", "xs[0]"
  std::string given;     ///< the bad value as a message would show it: "-1", "float64", "nan"; may be empty
  size_t position;       ///< of the argument in the schema
  Argument instead;      ///< replaces the argument
  std::optional<double> element = {};                              ///< replaces one element of the tensor
  enum class Place { first, middle, last } place = Place::middle;  ///< of that element, or of that group
  /// Whether the bad input is made when the call's dtype is `dtype`; null: for every dtype.
  bool (*accepts_dtype)(c10::ScalarType dtype) = nullptr;
  /// Nobody has said whether callers answer for this value: see judging/assumed_index.h.
  bool assumed = false;
  std::optional<int64_t> at = {};  ///< the index of that element, instead of `place`
};

/// Tensors of another rank, size, dtype or device, undefined tensors, elements outside their domain, and
/// groups that nothing belongs to. The texts do not have the prefix "bad:" yet.
std::vector<BadInput> bad_tensors(const Spec& spec, const Sample& sample);

/// Bad arguments that are not single tensors: numbers out of range, lists of another length. Arguments that
/// the spec trusts are skipped. The texts do not have the prefix "bad:" yet.
std::vector<BadInput> bad_values(const Spec& spec, const Sample& sample);

/// Every bad input of a sample; no two have the same text. Values of arguments that the spec trusts are not
/// damaged, except those of a draft that are only assumed to be trusted: values outside of the recorded ones,
/// and as large as sizes of other tensors, in the first sample where the argument has elements.
///
/// Two kinds are not made: tensors on the meta device, for which PyTorch's own operators return garbage, and
/// damage to all tensors at once, which is just another sample (value.dtype tries all dtypes).
std::vector<BadInput> bad_inputs(const Spec& spec, const Sample& sample);

/// Whether `variant` is the text of a bad input that the engine made.
bool is_bad_input(std::string_view variant);

inline constexpr std::string_view kSubnormal = "subnormal";

/// The text of the bad input that puts `value`, such as "nan" or kSubnormal, into the element `at` of a
/// floating tensor. bad_inputs() does not have these, because a plan of them would have a case for each
/// element.
std::string bad_element(std::string_view argument, int64_t at, std::string_view value);

/// The bad input that the key's variant names. Throws SetupError if the sample has no such bad input.
BadInput find_bad_input(const CallKey& key);

/// The arguments of a call whose variant is a bad input. An undefined tensor is left out of
/// Arguments::tensors.
Arguments materialize_bad_input(const CallKey& key, ValueCache& cache, const MaterializeOptions& options);

/// The text of a bad input in words: "`weight` has one dim more".
std::string describe_bad_input(std::string_view variant);

}  // namespace opgate
