#include "compiled/one_thread.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "compiled/roles.h"
#include "instructions/selectors.h"
#include "numbers/atomic_operations.h"
#include "ptx/modifiers.h"
#include "ptx/opcode.h"

namespace opgate::simulator {
namespace one_thread {

template <std::size_t count>
bool has_any(const Modifiers& modifiers, const std::array<std::string_view, count>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return modifiers.has(word); });
}

// Other blocks reach neither a thread's own memory nor shared memory: launches with clusters are not spread.
bool is_of_block(const Modifiers& modifiers) {
  static constexpr std::array<std::string_view, 6> kSpaces{"shared", "shared::cta", "shared::cluster",
                                                           "local",  "param",       "const"};
  return has_any(modifiers, kSpaces);
}

// By such accesses blocks wait for each other, or tell each other what is done.
bool is_strong(const Modifiers& modifiers) {
  static constexpr std::array<std::string_view, 8> kOrders{"volatile", "relaxed", "acquire", "release",
                                                           "acq_rel",  "mmio",    "cv",      "wt"};
  return has_any(modifiers, kOrders);
}

// What is meant for the block alone. A cluster has one block where a launch is spread.
bool is_in_scope_of_block(const Modifiers& modifiers) {
  return modifiers.has("cta") || modifiers.has("cluster");
}

// A fence between two ways to the same memory orders nothing between blocks.
bool is_of_proxy(const Modifiers& modifiers) { return modifiers.has("proxy"); }

bool is_reduction(const Function& function, std::size_t index) {
  const Opcode* const opcode = function.forms[index].opcode;
  return opcode != nullptr && (opcode->effect == Effect::atomic || opcode->effect == Effect::reduction) &&
         !is_of_block(Modifiers(*function.code[index].text));
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
    const Opcode* const opcode = function_.forms[index].opcode;
    if (opcode == nullptr) return {};
    Modifiers modifiers(*in.text);
    const char* why = nullptr;
    switch (opcode->effect) {
      case Effect::load:
      case Effect::store:
        if (is_strong(modifiers) && !is_of_block(modifiers) && !is_in_scope_of_block(modifiers))
          why = ", by which blocks may wait for each other";
        break;
      case Effect::atomic:
      case Effect::reduction:
        if (!is_of_block(modifiers)) why = why_of_atomic(in, modifiers, opcode->effect == Effect::atomic);
        break;
      case Effect::fence:
        if (!is_in_scope_of_block(modifiers) && !is_of_proxy(modifiers))
          why = ", by which blocks may wait for each other";
        break;
      case Effect::copy:
        if (modifiers.has("reduce")) why = ", whose order with others may matter";
        break;
      case Effect::tensor_map:
        why = ", which changes what other blocks read";
        break;
      default:
        if (modifiers.name() == "nanosleep") why = ", by which blocks may wait for each other";
    }
    return why == nullptr ? std::string() : *in.text + why;
  }

 private:
  const char* why_of_atomic(const Instruction& in, Modifiers& modifiers, bool returns) const {
    if (returns && is_read_[static_cast<std::size_t>(in.slot(0))]) return ", whose result is used";
    if (is_of_order(modifiers)) return ", by which blocks may wait for each other";
    modifiers.take_hints();
    const bool is_single = modifiers.take_lanes() == 1;
    const auto operation =
        modifiers.take_one({"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"});
    const Type type = modifiers.take_type();
    const bool is_integer = type == Type::b32 || type == Type::b64 || type == Type::u32 ||
                            type == Type::u64 || type == Type::s32 || type == Type::s64;
    const bool is_any_order =
        is_single && is_integer && operation && commutes(static_cast<AtomicOperation>(*operation));
    return is_any_order ? nullptr : ", whose order with others matters";
  }

  // Relaxed ones are counted only.
  static bool is_of_order(const Modifiers& modifiers) {
    return modifiers.has("acquire") || modifiers.has("release") || modifiers.has("acq_rel");
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
