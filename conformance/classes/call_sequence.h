// Random sequences of method calls. They are the same on every machine, because they are derived from
// names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "classes/object.h"
#include "inputs/call_key.h"
#include "spec/class_promises.h"

namespace opgate {

struct MethodCall {
  const ClassMethod* method;
  const Sample* arguments;
  std::string value_name;  ///< determines the values of its tensors, at any place in a sequence
};

using Sequence = std::vector<MethodCall>;

/// `count` sequences for the object of `key`: 16 random calls, then every method with every argument set
/// once, in random order, to observe what the random calls did to the state.
std::vector<Sequence> random_sequences(const CallKey& key, size_t count);

/// Every method with every argument set, once each.
Sequence every_call(const CallKey& key);

/// "push(4), forward(2x3x4x4), mean()"
std::string text_of(std::span<const MethodCall> calls);

/// Newly made arguments of a call, or of the constructor, in schema order.
torch::jit::Stack arguments_of(const CallKey& key, const MethodCall& call);
torch::jit::Stack constructor_arguments(const CallKey& key);

/// A new object of the class of `key`, made with the constructor arguments of its sample, or with
/// `arguments`. Throws SetupError if the class refuses them.
c10::IValue construct(const CallKey& key);
c10::IValue construct(const CallKey& key, const torch::jit::Stack& arguments);

/// Makes the calls in order, and returns the answer of each. Results are copied before the next call.
std::vector<Answer> call_in_turn(const CallKey& key, const c10::IValue& object,
                                 std::span<const MethodCall> calls);

/// Removes each call without which `find` still finds something, and returns what it found last. `find`
/// takes a Sequence and returns an optional.
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
