// Inputs that the engine damages by itself: each argument of a sample in each way in which callers get it
// wrong. An operator needs no line in its spec for them; what it owes them is said in
// checks/error_raises.cpp.
#pragma once

#include <opgate/spec.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call/arguments.h"

namespace opgate {

/// One argument of a sample, damaged in one way.
struct BadInput {
  enum class Kind {
    shape,      ///< a tensor with a dim more or less, or with one size larger
    dtype,      ///< one tensor in another dtype than it has in the sample, with the same values
    device,     ///< one tensor on the CPU among CUDA ones
    undefined,  ///< at::Tensor() where a tensor is needed
    index,      ///< one element of an integer tensor outside of its domain
    special,    ///< one element of a floating tensor NaN or infinite
    integer,    ///< an integer that is 0, -1 or 2^62
    number,     ///< a floating number, or a Scalar, that is 0, -1, NaN or infinite
    list,       ///< a list of another length, or with a bad entry
  };
  std::string text;  ///< of its variant: "bad:weight.rank+1", "bad:indices.value=-1", "bad:eps=nan"
  Kind kind;
  std::string argument;  ///< "weight", "xs[0]"
  std::string given;     ///< the bad thing as a message would show it: "-1", "float64", "nan"; may be empty
  size_t position;       ///< of the argument in the schema
  Argument instead;      ///< in its place
  std::optional<double> element = {};              ///< this value in the middle of the tensor
  bool (*suits)(c10::ScalarType dtype) = nullptr;  ///< the dtypes being swept that it is for; all where null
};

/// Every bad input of a sample, no text twice. Values of arguments that the spec trusts are left alone.
///
/// Not made: tensors on the meta device, which PyTorch's own operators answer with garbage; and damage to all
/// tensors at once, which is another sample (value.dtype sweeps the dtypes).
std::vector<BadInput> bad_inputs(const Spec& spec, const Sample& sample);

/// True for the variant text of a derived bad input.
bool is_bad_input(std::string_view variant);

/// The one that the key's variant names. Throws SetupError where there is none.
BadInput find_bad_input(const CallKey& key);

/// The arguments of a call whose variant is a bad input. An undefined tensor is none of Arguments::tensors.
Arguments materialise_bad_input(const CallKey& key, ValueCache& cache, const Making& making);

/// "`weight` has one dim more"; the text of a variant, in words.
std::string describe_bad_input(std::string_view variant);

}  // namespace opgate
