// Random sequences of method calls: the same on every machine, because they follow from names.
#pragma once

#include <opgate/class_spec.h>

#include <span>
#include <string>
#include <vector>

#include "call/call_key.h"
#include "classes/object.h"

namespace opgate {

struct MethodCall {
  const ClassMethod* method;
  const Sample* arguments;
  std::string stream;  ///< names the values of its tensors, wherever in a sequence it stands
};

using Sequence = std::vector<MethodCall>;

/// `count` sequences for the object that `key` makes: 16 random calls, then every method with every argument
/// set once, in random order, so that whatever the calls before did to the state is asked for.
std::vector<Sequence> random_sequences(const CallKey& key, size_t count);

/// Every method with every argument set, once each.
Sequence every_call(const CallKey& key);

/// "push(4), forward(2x3x4x4), mean()"
std::string text_of(std::span<const MethodCall> calls);

/// Newly made arguments of a call, or of the constructor, in schema order.
torch::jit::Stack arguments_of(const CallKey& key, const MethodCall& call);
torch::jit::Stack constructor_arguments(const CallKey& key);

/// The object that `key` speaks of, newly made; with arguments of the caller's, if it wants to see them
/// again. Throws SetupError where the class refuses them.
c10::IValue construct(const CallKey& key);
c10::IValue construct(const CallKey& key, const torch::jit::Stack& arguments);

/// What each call in turn gives. Results are copied as they come.
std::vector<Answer> drive(const CallKey& key, const c10::IValue& object, std::span<const MethodCall> calls);

/// Leaves out call after call for as long as `find` still finds something, and gives what it found last.
/// `find` takes a Sequence and gives an optional.
template <class Found, class Find>
Found shrink(Sequence& sequence, Found found, const Find& find) {
  for (size_t i = sequence.size(); i-- > 0;) {
    Sequence without = sequence;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto again = find(without)) {
      sequence = std::move(without);
      found = std::move(*again);
    }
  }
  return found;
}

}  // namespace opgate
