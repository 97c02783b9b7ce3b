#include "compiled/roles.h"

#include "instructions/selectors.h"

namespace opgate::simulator {
namespace roles {

void add_registers(const std::vector<Argument>& arguments, std::vector<Slot>& slots) {
  for (const Argument& argument : arguments) {
    if (argument.in_register) slots.push_back(argument.slot);
  }
}

void add_call(const Function& function, const Instruction& in, Roles& roles) {
  const Call& call = function.calls[static_cast<std::size_t>(in.immediate)];
  if (call.callee < 0) roles.reads.push_back(call.address);
  add_registers(call.arguments, roles.reads);
  // What the function does not hand back keeps its value.
  add_registers(call.results, roles.reads);
  add_registers(call.results, roles.writes);
}

// Whether the instruction decides by itself what comes next.
bool add_control(const Function& function, const Instruction& in, Effect::Kind kind, Roles& roles) {
  switch (kind) {
    case Effect::Kind::branch:
      roles.targets = {in.immediate};
      roles.ends = true;
      return true;
    case Effect::Kind::leave_function:
      add_registers(function.results, roles.reads);
      [[fallthrough]];
    case Effect::Kind::leave_kernel:
      roles.ends = roles.stops = true;
      return true;
    default:
      return false;
  }
}

}  // namespace roles

Roles roles_of(const Function& function, std::size_t index) {
  using namespace roles;
  const Instruction& in = function.code[index];
  const OperandForm& form = function.forms[index];
  Roles all;
  if (in.execute == &execute_call || in.execute == &execute_assertion || is_host_call(in.execute)) {
    add_call(function, in, all);
    all.stops = in.execute == &execute_call;
    return all;
  }
  if (in.execute == &execute_branch_table) {
    all.reads = {in.slots[0]};
    all.targets = function.branch_tables[static_cast<std::size_t>(in.immediate)];
    all.ends = all.stops = true;
    return all;
  }
  if (add_control(function, in, form.effect.kind, all)) return all;
  all.waits = form.waits;
  all.stops = all.waits != Waits::never;
  if (form.reads_immediate) all.reads.push_back(static_cast<Slot>(in.immediate));
  for (std::size_t i = 0; i < form.total; ++i) {
    if (i < form.results) all.writes.push_back(in.slot(i));
    if (i >= form.results || form.reads_results) all.reads.push_back(in.slot(i));
  }
  return all;
}

}  // namespace opgate::simulator
