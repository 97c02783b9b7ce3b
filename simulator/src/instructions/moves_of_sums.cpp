#include "instructions/moves_of_sums.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "instructions/selectors.h"
#include "instructions/wgmma.h"
#include "machine/block.h"
#include "ptx/program.h"

namespace opgate::simulator {
namespace moves_of_sums {

// Whether a product may be pending in front of each instruction.
std::vector<bool> places_behind_products(const Function& function) {
  std::vector<bool> is_behind(function.code.size() + 1);
  std::vector<std::size_t> reached;
  const auto reach = [&](std::size_t at) {
    if (is_behind[at]) return;
    is_behind[at] = true;
    reached.push_back(at);
  };
  for (std::size_t at = 0; at < function.code.size(); ++at) {
    if (function.forms[at].effect.kind == Effect::Kind::product) reach(at + 1);
  }
  while (!reached.empty()) {
    const std::size_t at = reached.back();
    reached.pop_back();
    if (at == function.code.size()) continue;
    const Instruction& in = function.code[at];
    const OperandForm& form = function.forms[at];
    if (waits_for_all_products(in, form, function.initial)) continue;
    std::vector<std::int64_t> targets;
    if (form.effect.kind == Effect::Kind::branch) targets = {in.immediate};
    if (in.execute == &execute_branch_table)
      targets = function.branch_tables[static_cast<std::size_t>(in.immediate)];
    for (const std::int64_t target : targets) reach(static_cast<std::size_t>(target));
    const bool leaves = !targets.empty() || form.effect.leaves();
    if (!leaves || in.guard >= 0) reach(at + 1);
  }
  return is_behind;
}

bool reads_any(const Instruction& in, const OperandForm& form, const std::set<Slot>& slots) {
  for (std::size_t i = form.first; i < form.total; ++i) {
    if (slots.contains(in.slot(i))) return true;
  }
  return false;
}

void add_results(const Function& function, std::size_t at, std::set<Slot>& slots) {
  for (std::size_t i = 0; i < function.forms[at].first; ++i) {
    const Slot slot = function.code[at].slot(i);
    if (slot != function.nowhere) slots.insert(slot);
  }
}

void remember(Thread& thread, const Instruction& in, ProductQueue& products) {
  const OperandForm& form = thread.function().form_of(in);
  MoveOfSums move{&in, thread.lane, 0, {}};
  std::uint64_t groups = 0;
  for (std::size_t i = form.first; i < form.total; ++i) {
    const Slot slot = in.slot(i);
    const std::uint64_t of_source = products.groups_before(thread.lane, slot);
    if (of_source == 0) move.others.emplace_back(slot, thread.registers[slot]);
    groups = std::max(groups, of_source);
  }
  if (groups == 0) return;
  move.group = groups - 1;
  products.move(std::move(move), form.first);
}

}  // namespace moves_of_sums

void settle_moves_of_sums(Function& function) {
  using namespace moves_of_sums;
  std::set<Slot> slots = registers_of_products(function);
  if (slots.empty()) return;
  const std::vector<bool> is_behind = places_behind_products(function);
  for (std::size_t before = 0; before != slots.size();) {
    before = slots.size();
    for (std::size_t at = 0; at < function.code.size(); ++at) {
      Instruction& in = function.code[at];
      const OperandForm& form = function.forms[at];
      if (!is_behind[at] || !form.flow.only_moves || !reads_any(in, form, slots)) continue;
      if (in.execute != &execute_move_of_sums) {
        in.immediate = std::bit_cast<std::int64_t>(in.execute);
        in.execute = &execute_move_of_sums;
      }
      add_results(function, at, slots);
    }
  }
}

void execute_move_of_sums(Thread& thread, const Instruction& in) {
  ProductQueue& products = thread.block->products_of(thread);
  if (products.has_pending_in(thread.function())) moves_of_sums::remember(thread, in, products);
  plain_handler(in)(thread, in);
}

Handler plain_handler(const Instruction& in) {
  return in.execute == &execute_move_of_sums ? std::bit_cast<Handler>(in.immediate) : in.execute;
}

// Registers that have changed since then keep what they hold.
void repeat_move(Thread& thread, const MoveOfSums& move) {
  const Instruction& in = *move.instruction;
  const OperandForm& form = thread.function().form_of(in);
  std::vector<std::pair<Slot, std::uint64_t>> kept;
  for (const auto& [slot, value] : move.others) kept.emplace_back(slot, thread.registers[slot]);
  for (const auto& [slot, value] : move.others) thread.registers[slot] = value;
  plain_handler(in)(thread, in);
  for (const auto& [slot, value] : kept) {
    bool is_result = false;
    for (std::size_t i = 0; i < form.first; ++i) is_result |= in.slot(i) == slot;
    if (!is_result) thread.registers[slot] = value;
  }
}

std::set<Slot> registers_of_products(const Function& function) {
  std::set<Slot> all;
  for (std::size_t at = 0; at < function.code.size(); ++at) {
    const Instruction& in = function.code[at];
    if (function.forms[at].effect.kind == Effect::Kind::product) {
      for (const Slot slot : registers_of_product(in)) all.insert(slot);
    } else if (in.execute == &execute_move_of_sums) {
      moves_of_sums::add_results(function, at, all);
    }
  }
  return all;
}

std::set<Slot> sources_of_products(const Function& function) {
  const std::set<Slot> of_products = registers_of_products(function);
  std::set<Slot> all;
  const auto fills = [&](const Instruction& in, const OperandForm& form) {
    for (std::size_t i = 0; i < form.first; ++i) {
      if (of_products.contains(in.slot(i)) || all.contains(in.slot(i))) return true;
    }
    return false;
  };
  if (of_products.empty()) return all;
  for (std::size_t before = ~std::size_t{0}; before != all.size();) {
    before = all.size();
    for (std::size_t at = 0; at < function.code.size(); ++at) {
      const Instruction& in = function.code[at];
      const OperandForm& form = function.forms[at];
      if (!form.flow.only_moves || !fills(in, form)) continue;
      for (std::size_t i = form.first; i < form.total; ++i) all.insert(in.slot(i));
    }
  }
  return all;
}

}  // namespace opgate::simulator
