#include "classes/object.h"

#include <ATen/core/function.h>

#include "base/pickle.h"
#include "device/device.h"

namespace opgate {
namespace {

// An object before `__init__` or `__setstate__`: one empty slot for the C++ instance.
c10::IValue unmade(const c10::ClassTypePtr& type) {
  return c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), 1);
}

}  // namespace

Answer answer_of(const std::function<c10::IValue()>& action, c10::DeviceType device) {
  try {
    c10::IValue value = action();
    synchronize(device);  // kernels fail asynchronously: without this, a later call would report the error
    return {std::move(value), std::nullopt};
  } catch (const c10::Error& error) {
    return {{}, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {{}, error.what()};
  } catch (...) {  // a class may throw anything, which is a finding and must not end the worker
    return {{}, "an exception that is no std::exception"};
  }
}

c10::IValue construct(const c10::ClassTypePtr& type, const torch::jit::Stack& arguments) {
  c10::IValue object = unmade(type);
  call_method(object, "__init__", arguments);
  return object;
}

c10::IValue call_method(const c10::IValue& object, const std::string& method,
                        const torch::jit::Stack& arguments) {
  torch::jit::Stack stack{object};
  stack.insert(stack.end(), arguments.begin(), arguments.end());
  object.toObjectRef().type()->getMethod(method).run(stack);
  return stack.empty() ? c10::IValue() : stack.back();
}

c10::IValue from_state(const c10::ClassTypePtr& type, const c10::IValue& state) {
  c10::IValue object = unmade(type);
  call_method(object, "__setstate__", {state});
  return object;
}

c10::IValue through_bytes(const c10::IValue& object) { return unpickled(pickled(object)); }

}  // namespace opgate
