#include "simulator/compiled/roles.h"

#include <algorithm>
#include <array>

#include "simulator/instructions/selectors.h"
#include "simulator/ptx/modifiers.h"

namespace opgate::simulator {
namespace roles {

constexpr std::array kWithoutResult{std::string_view("st"), std::string_view("red"),
                                    std::string_view("nanosleep"), std::string_view("cp"),
                                    std::string_view("stmatrix")};
constexpr std::array kWaits{
    std::string_view("shfl"),      std::string_view("vote"),  std::string_view("match"),
    std::string_view("redux"),     std::string_view("elect"), std::string_view("activemask"),
    std::string_view("nanosleep"), std::string_view("bar"),   std::string_view("barrier")};
constexpr std::array kOfWholeWarp{std::string_view("ldmatrix"), std::string_view("stmatrix"),
                                  std::string_view("movmatrix"), std::string_view("mma"),
                                  std::string_view("wmma")};

template <class List>
bool is_in(const List& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Of names whose first operand is a result or not.
bool has_result(const std::string& name, const Modifiers& modifiers) {
  // bar.red has a result in front of its barrier.
  if (name == "bar" || name == "barrier") return modifiers.has("red");
  if (name == "wmma") return !modifiers.has("store");
  if (name == "mbarrier") {
    const bool counts = modifiers.has("expect_tx") || modifiers.has("complete_tx");
    const bool arrives = modifiers.has("arrive") || modifiers.has("arrive_drop");
    return arrives || !(counts || modifiers.has("init") || modifiers.has("inval"));
  }
  return !is_in(kWithoutResult, name);
}

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

// Of opcodes that are known by their name alone. True where nothing else needs to be looked at.
bool add_control(const Function& function, const Instruction& in, const std::string& name, Roles& roles) {
  if (name == "bra") {
    roles.targets = {in.immediate};
    roles.ends = true;
  } else if (name == "ret" || name == "exit") {
    roles.ends = roles.stops = true;
    if (name == "ret") add_registers(function.results, roles.reads);
  } else {
    return false;
  }
  return true;
}

}  // namespace roles

Roles roles_of(const Function& function, std::size_t index) {
  using namespace roles;
  const Instruction& in = function.code[index];
  const OperandForm& form = function.forms[index];
  Roles all;
  if (in.execute == &execute_unsupported) return all;
  if (in.execute == &execute_call || in.execute == &execute_assertion || in.execute == &execute_print) {
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
  const bool is_inserted = in.execute == &execute_clock || in.execute == &execute_not_predicate;
  const Modifiers modifiers(*in.text);
  const std::string name = is_inserted ? "" : modifiers.name();
  if (add_control(function, in, name, all)) return all;
  all.stops = is_in(kWaits, name) || is_in(kOfWholeWarp, name);
  all.is_of_whole_warp = is_in(kOfWholeWarp, name);
  if (name == "mbarrier") all.stops = modifiers.has("test_wait") || modifiers.has("try_wait");
  const std::size_t results = has_result(name, modifiers) ? form.first : 0;
  for (std::size_t i = 0; i < form.total; ++i) (i < results ? all.writes : all.reads).push_back(in.slot(i));
  const bool has_predicate = modifiers.has("or") || modifiers.has("and");
  if (name == "lop3" && has_predicate) all.reads.push_back(static_cast<Slot>(in.immediate));
  return all;
}

}  // namespace opgate::simulator
