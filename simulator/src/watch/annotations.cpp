#include "watch/annotations.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "instructions/catalogue.h"
#include "instructions/moves_of_sums.h"
#include "instructions/wgmma.h"
#include "ptx/program.h"

namespace opgate::simulator {
namespace annotations {

using Kind = Annotation::Kind;

// As the interpreter decides it when it decodes the instruction.
void settle_parameter_space(Annotation& annotation, const OperandForm& form, bool in_kernel) {
  if (annotation.space != Space::parameter) return;
  if (form.names_local || !in_kernel) {
    annotation.space = Space::local;
  } else {
    annotation.kind = Kind::none;
  }
}

// An address as an instruction names it, how many bytes, and the register that the load fills.
using Guess = std::tuple<Slot, std::int64_t, unsigned, Slot>;

Guess guess_of(const Instruction& instruction, const Effect& effect, Slot value) {
  return {instruction.slot(effect.operand), instruction.immediate, effect.bytes, value};
}

// The loads whose value an `atom.cas` of the same place compares with, directly or after moves: the first
// guess of a loop, as the programming guide shows it, and as CUDA's own headers have it. A stale value costs
// one more turn.
std::set<Guess> guesses_of(const Function& function) {
  std::set<Guess> guesses;
  for (std::size_t at = 0; at < function.code.size(); ++at) {
    const Instruction& cas = function.code[at];
    if (!function.forms[at].effect.is_swap) continue;
    constexpr std::size_t kCompared = 2;
    std::set<Slot> values{cas.slot(kCompared)};
    for (std::size_t before = 0; before != values.size();) {
      before = values.size();
      for (std::size_t i = 0; i < function.code.size(); ++i) {
        const Instruction& move = function.code[i];
        if (function.forms[i].flow.only_moves && values.contains(move.slot(0))) values.insert(move.slot(1));
      }
    }
    for (const Slot value : values) guesses.insert(guess_of(cas, function.forms[at].effect, value));
  }
  return guesses;
}

bool changes_memory(const OperandForm& form) {
  return form.effect.is_atomic() || form.effect.kind == Kind::store || form.effect.kind == Kind::unknown;
}

bool writes(const Instruction& instruction, const OperandForm& form, Slot slot) {
  return form.results != 0 && instruction.slot(0) == slot;
}

// The loads, by their index, that are repeated until somebody else changes the value: those in a loop that
// neither writes memory nor changes their address.
std::set<std::size_t> loads_that_wait(const Function& function) {
  std::set<std::size_t> loads;
  for (std::size_t end = 0; end < function.code.size(); ++end) {
    if (function.forms[end].effect.kind != Kind::branch) continue;
    const auto begin = static_cast<std::size_t>(function.code[end].immediate);
    if (begin > end) continue;
    const auto any = [&](const auto& holds) {
      for (std::size_t at = begin; at < end; ++at) {
        if (holds(function.code[at], function.forms[at])) return true;
      }
      return false;
    };
    if (any([](const Instruction&, const OperandForm& form) { return changes_memory(form); })) continue;
    for (std::size_t at = begin; at < end; ++at) {
      const Effect& load = function.forms[at].effect;
      if (load.kind != Kind::load || !load.is_volatile) continue;
      const Slot address = function.code[at].slot(load.operand);
      if (!any([&](const Instruction& in, const OperandForm& form) { return writes(in, form, address); }))
        loads.insert(at);
    }
  }
  return loads;
}

bool names_any(const Instruction& instruction, std::size_t operands, const std::set<Slot>& slots) {
  for (std::size_t i = 0; i < operands; ++i) {
    if (slots.contains(instruction.slot(i))) return true;
  }
  return false;
}

bool may_depend_on_order(const Annotation& annotation) {
  return annotation.is_strong || annotation.kind == Kind::host_call || annotation.kind == Kind::grid_wait ||
         annotation.kind == Kind::grid_trigger || annotation.kind == Kind::unknown;
}

void annotate_registers(Annotation& annotation, const Instruction& instruction, const OperandForm& form,
                        const std::set<Slot>& of_products, const std::set<Slot>& moved_to_products) {
  if (of_products.empty() || annotation.kind == Kind::product) return;
  annotation.results = form.results;
  annotation.only_moves = instruction.guard < 0 && form.flow.only_moves;
  annotation.names_product_register = names_any(instruction, form.total, of_products) ||
                                      names_any(instruction, annotation.results, moved_to_products);
}

}  // namespace annotations

bool may_depend_on_order(const Program& program, const std::vector<Annotation>& all) {
  const auto reads_clock = [](const auto& function) {
    return std::ranges::any_of(function->code,
                               [](const Instruction& in) { return in.execute == instruction_set().clock; });
  };
  return std::ranges::any_of(all,
                             [](const Annotation& how) { return annotations::may_depend_on_order(how); }) ||
         std::ranges::any_of(program.functions, reads_clock);
}

std::vector<Annotation> annotate(Program& program) {
  std::vector<Annotation> all;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = *program.functions[i];
    const std::set<annotations::Guess> guesses = annotations::guesses_of(function);
    const std::set<std::size_t> waiting = annotations::loads_that_wait(function);
    const std::set<Slot> of_products = registers_of_products(function);
    const std::set<Slot> moved_to_products = sources_of_products(function);
    for (std::size_t at = 0; at < function.code.size(); ++at) {
      const Instruction& instruction = function.code[at];
      Annotation annotation{function.forms[at].effect};
      annotations::settle_parameter_space(annotation, function.forms[at], i == 0);
      annotations::annotate_registers(annotation, instruction, function.forms[at], of_products,
                                      moved_to_products);
      annotation.is_guess =
          annotation.kind == Annotation::Kind::load &&
          guesses.contains(annotations::guess_of(instruction, annotation, instruction.slot(0)));
      if (waiting.contains(at)) annotation.is_volatile = false;
      annotation.number(function.first_number + static_cast<std::uint32_t>(at));
      all.push_back(annotation);
    }
  }
  // Only now do the annotations stay where they are.
  for (const auto& function : program.functions) {
    for (std::size_t at = 0; at < function->code.size(); ++at) {
      const Annotation& annotation = all[function->first_number - 1 + at];
      if (annotation.is_watched() || annotation.names_product_register || annotation.makes_visible)
        function->code[at].annotation = &annotation;
    }
  }
  return all;
}

}  // namespace opgate::simulator
