// Calls operators of this library through the dispatcher, so that autograd, fake tensors and tracers see
// them.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace opgate_ops {

/// The operator `name` ("opgate_ops::gelu_tanh") with this overload, as a function of this signature.
/// Throws c10::Error if the library does not define it with that signature. Keep the result in a static
/// variable, because the search takes longer than a call.
template <class Signature>
c10::TypedOperatorHandle<Signature> dispatched(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

}  // namespace opgate_ops
