// Makes and calls objects of TorchBind classes as TorchScript and AOTInductor packages do: by name, with a
// stack. Whatever the class throws becomes an Answer.
#pragma once

#include <ATen/core/class_type.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceType.h>

#include <functional>
#include <optional>
#include <string>

namespace opgate {

/// The outcome of a call: a value (None for a method that returns nothing), or the message of an exception.
struct Answer {
  c10::IValue value;
  std::optional<std::string> raised;

  bool ok() const { return !raised.has_value(); }
};

/// Runs `action`, waits for the device, and catches whatever `action` throws.
Answer answer_of(const std::function<c10::IValue()>& action, c10::DeviceType device);

/// Makes a new object; `arguments` are those of the constructor, without self. Throws what the class
/// throws.
c10::IValue construct(const c10::ClassTypePtr& type, const torch::jit::Stack& arguments);

/// Calls a method; `arguments` are without self. Throws what the method throws.
c10::IValue call_method(const c10::IValue& object, const std::string& method,
                        const torch::jit::Stack& arguments = {});

/// Makes an object by `__setstate__`.
c10::IValue from_state(const c10::ClassTypePtr& type, const c10::IValue& state);

/// Pickles the object to bytes, as torch::jit::pickle_save does, and reads it back.
c10::IValue through_bytes(const c10::IValue& object);

}  // namespace opgate
