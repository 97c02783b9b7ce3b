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
/// sparse or quantized tensor, a tensor subclass or one without memory (fake, functional, freed), an object
/// of a class.
std::string kind_of_call(c10::ArrayRef<c10::IValue> arguments);

/// The arguments with values, as a list with one element per argument: what spec/json/sample_json.h reads,
/// and for tensors also dtype, device, strides, storage offset and requires_grad. Small tensors have all
/// their numbers, larger ones the range of their numbers. Values on an accelerator are read only if it is
/// simulated, because the program would have to wait for a real one: floating-point tensors are `uniform`
/// there. The same holds while a graph is captured, and after a kernel has failed. Throws SpecError as
/// above, and for integers whose values are not read.
nlohmann::json described_arguments(c10::ArrayRef<c10::IValue> arguments);

}  // namespace opgate
