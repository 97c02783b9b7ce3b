// Calls operators of this library through the dispatcher, so that autograd, fake tensors and tracers see
// them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace opgate_ops {

/// The overload `name` ("opgate_ops::gelu_tanh") as a function of this signature. Throws c10::Error where the
/// library does not define it so. Keep it in a static: the search costs more than a call.
template <class Signature>
c10::TypedOperatorHandle<Signature> dispatched(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

}  // namespace opgate_ops
