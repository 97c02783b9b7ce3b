#include "compiled/one_thread.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiled/roles.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace one_thread {

// Other blocks reach neither a thread's own memory nor shared memory: launches with clusters are not spread.
bool is_of_block(const Effect& effect) {
  return effect.space == Space::shared || effect.space == Space::local || effect.space == Space::parameter;
}

bool is_reduction(const Function& function, std::size_t index) {
  const Effect& effect = function.forms[index].effect;
  return effect.is_atomic() && !is_of_block(effect);
}

struct Loop {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The shortest piece of the function that is repeated and has the instruction in it.
std::optional<Loop> innermost_loop(const Function& function, std::size_t index) {
  std::optional<Loop> innermost;
  for (std::size_t i = index; i < function.code.size(); ++i) {
    for (const std::int64_t target : roles_of(function, i).targets) {
      const auto begin = static_cast<std::size_t>(target);
      if (begin > index || (innermost && i + 1 - begin >= innermost->end - innermost->begin)) continue;
      innermost = Loop{begin, i + 1};
    }
  }
  return innermost;
}

class OfFunction {
 public:
  explicit OfFunction(const Function& function) : function_(function), is_read_(function.initial.size()) {
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      for (const Slot slot : roles_of(function, i).reads) is_read_[static_cast<std::size_t>(slot)] = true;
      const std::int32_t guard = function.code[i].guard;
      if (guard >= 0) is_read_[static_cast<std::size_t>(guard >> 1)] = true;
    }
  }

  // Why the instruction keeps the blocks on one thread; empty if it does not.
  std::string why(std::size_t index) const {
    const Instruction& in = function_.code[index];
    if (in.execute == &execute_clock) return "the clock, which depends on all that has run before";
    if (is_host_call(in.execute)) return "a call of the host, which serves one thread at a time";
    const char* const why = why_of_effect(in, function_.forms[index].effect);
    return why == nullptr ? std::string() : *in.text + why;
  }

 private:
  static constexpr const char* kMayWait = ", by which blocks may wait for each other";

  // A cluster has one block if a launch is spread, so that only the scope of the device reaches others.
  const char* why_of_effect(const Instruction& in, const Effect& effect) const {
    using Kind = Effect::Kind;
    const bool reaches_others = effect.scope == Scope::device && !is_of_block(effect);
    switch (effect.kind) {
      case Kind::load:
      case Kind::store:
        return (effect.is_strong || effect.bypasses_caches) && reaches_others ? kMayWait : nullptr;
      case Kind::atomic:
      case Kind::reduction:
        return is_of_block(effect) ? nullptr : why_of_atomic(in, effect);
      case Kind::fence:
        return effect.scope == Scope::device ? kMayWait : nullptr;
      case Kind::sleep:
        return kMayWait;
      case Kind::bulk_load:
      case Kind::bulk_store:
      case Kind::tensor_load:
      case Kind::tensor_store:
        return effect.is_strong ? ", whose order with others may matter" : nullptr;
      case Kind::tensor_map:
        return ", which changes what other blocks read";
      default:
        return nullptr;
    }
  }

  const char* why_of_atomic(const Instruction& in, const Effect& effect) const {
    const bool returns = effect.kind == Effect::Kind::atomic;
    if (returns && is_read_[static_cast<std::size_t>(in.slot(0))]) return ", whose result is used";
    // Relaxed ones are counted only.
    if (effect.acquires || effect.releases) return kMayWait;
    return effect.commutes ? nullptr : ", whose order with others matters";
  }

  const Function& function_;
  std::vector<bool> is_read_;
};

}  // namespace one_thread

std::uint64_t Reductions::instructions_for_each(std::uint64_t of_a_thread) const {
  const std::uint64_t outside = outside_loops == 0 ? UINT64_MAX : of_a_thread / outside_loops;
  return least_in_loop == 0 ? outside : std::min<std::uint64_t>(outside, least_in_loop);
}

Reductions reductions_of(const Program& program) {
  using namespace one_thread;
  Reductions all;
  for (const auto& function : program.functions) {
    for (std::size_t i = 0; i < function->code.size(); ++i) {
      if (!is_reduction(*function, i)) continue;
      const std::optional<Loop> loop = innermost_loop(*function, i);
      if (!loop) {
        ++all.outside_loops;
        continue;
      }
      std::size_t others = 0;
      for (std::size_t at = loop->begin; at < loop->end; ++at) others += is_reduction(*function, at) ? 1 : 0;
      const std::size_t for_each = (loop->end - loop->begin) / others;
      all.least_in_loop = all.least_in_loop == 0 ? for_each : std::min(all.least_in_loop, for_each);
    }
  }
  return all;
}

std::string why_one_thread(const Program& program) {
  for (const auto& function : program.functions) {
    const one_thread::OfFunction of(*function);
    for (std::size_t i = 0; i < function->code.size(); ++i) {
      if (std::string why = of.why(i); !why.empty()) return why;
    }
  }
  return {};
}

}  // namespace opgate::simulator
