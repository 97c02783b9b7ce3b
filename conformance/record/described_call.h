// Describes one call of an operator as text: the properties that make up its kind, and the values of its
// arguments.
#pragma once

#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>

#include <string>

namespace opgate {

/// Everything about the arguments except the values of tensors: shapes, strides, dtypes, devices, whether a
/// tensor requires a gradient, and all other arguments with their values. Calls of the same kind have the
/// same text. Throws SpecError, with the reason in a few words, for an argument that no sample can have: a
/// sparse or quantized tensor, a tensor subclass or one without memory (fake, functional), an object of a
/// class.
std::string kind_of_call(c10::ArrayRef<c10::IValue> arguments);

/// The arguments with values, as a list with one element per argument: what spec/sample_json.h reads, and
/// for tensors also dtype, device, strides, storage offset and requires_grad. Small tensors have all their
/// numbers, larger ones the range of their numbers. Values on an accelerator are read where it is simulated only, because that would make
/// the program wait: floating-point tensors are `uniform` there. Throws SpecError as above, and for
/// integers on an accelerator.
nlohmann::json described_arguments(c10::ArrayRef<c10::IValue> arguments);

}  // namespace opgate
