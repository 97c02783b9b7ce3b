#include "compiled/roles.h"

#include "instructions/selectors.h"
#include "ptx/modifiers.h"

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
bool add_control(const Function& function, const Instruction& in, Effect effect, Roles& roles) {
  switch (effect) {
    case Effect::branch:
      roles.targets = {in.immediate};
      roles.ends = true;
      return true;
    case Effect::leave_function:
      add_registers(function.results, roles.reads);
      [[fallthrough]];
    case Effect::leave_kernel:
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
  std::size_t results = form.first;
  // What is inserted in front of an instruction has one result. What is not simulated has no slots.
  if (form.opcode != nullptr) {
    if (add_control(function, in, form.opcode->effect, all)) return all;
    const Modifiers modifiers(*in.text);
    if (!form.opcode->has_result(modifiers)) results = 0;
    all.waits = form.opcode->waits_with(modifiers);
    all.stops = all.waits != Waits::never;
    const bool has_predicate = modifiers.has("or") || modifiers.has("and");
    if (modifiers.name() == "lop3" && has_predicate) all.reads.push_back(static_cast<Slot>(in.immediate));
  }
  const bool reads_all = form.opcode != nullptr && form.opcode->reads_result();
  for (std::size_t i = 0; i < form.total; ++i) {
    if (i < results) all.writes.push_back(in.slot(i));
    if (i >= results || reads_all) all.reads.push_back(in.slot(i));
  }
  return all;
}

}  // namespace opgate::simulator
