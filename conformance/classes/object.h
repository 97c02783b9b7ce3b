// One object of a TorchBind class, made and called as TorchScript and an AOTInductor package do: by name,
// with a stack. Whatever the class throws becomes an answer.
#pragma once

#include <ATen/core/class_type.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceType.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// What a call gave: a value (None for a method that gives nothing), or an exception in words.
struct Answer {
  c10::IValue value;
  std::optional<std::string> raised;

  bool ok() const { return !raised.has_value(); }
};

/// Runs `action`, waits for the device, and catches whatever is thrown.
Answer answer_of(const std::function<c10::IValue()>& action, c10::DeviceType device);

/// A new object; `arguments` without self.
c10::IValue construct(const c10::ClassTypePtr& type, const torch::jit::Stack& arguments);

/// Calls a method; `arguments` without self.
c10::IValue call_method(const c10::IValue& object, const std::string& method,
                        const torch::jit::Stack& arguments = {});

/// An object made by `__setstate__`.
c10::IValue from_state(const c10::ClassTypePtr& type, const c10::IValue& state);

/// The object written to the bytes of a file and read back.
c10::IValue through_bytes(const c10::IValue& object);

}  // namespace opgate
