// One call of an operator as text: what tells it from other kinds of call, and, once a kind, its values.
#pragma once

#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>

#include <string>

namespace opgate {

/// Everything about the arguments but the values of tensors: shapes, strides, dtypes, devices, whether a
/// gradient is wanted, and all other arguments as they stand. Calls of the same kind have the same text.
/// Throws SpecError that says what, in few words, for an argument that no sample can have: a sparse or
/// quantized tensor, one of a subclass or without memory (fake, functional), an object of a class.
std::string kind_of_call(c10::ArrayRef<c10::IValue> arguments);

/// The arguments with values: numbers one by one of small tensors, otherwise their range. A list, an element
/// an argument: what spec/sample_json.h reads, and of tensors dtype, device, strides, storage offset and
/// requires_grad besides. Values on CUDA are not read, which would make the program wait: floating ones are
/// `uniform` then. Throws SpecError as above, and for integers on CUDA.
nlohmann::json described_arguments(c10::ArrayRef<c10::IValue> arguments);

}  // namespace opgate
