// Calls of functions in compiled code. The frame of the callee lies where it does in the interpreter, and its
// arguments and results are moved as Thread::call and Thread::leave_function do.
#include <algorithm>

#include "compiled/emitter.h"
#include "compiled/translator.h"
#include "machine/launches/compiled_code.h"
#include "machine/memory/local_memory.h"

namespace opgate::simulator {
namespace calls {

// Where a function finds an argument or a result, in the slots and the local memory of its frame.
std::string place_of(const Argument& argument, const std::string& registers, const std::string& local) {
  if (argument.in_register) return "(u8*)(" + registers + " + " + std::to_string(argument.slot) + ")";
  return "c->local + " + local + " + " + std::to_string(argument.offset);
}

bool is_local_address(const FrameValue& value) { return value.kind == FrameValue::Kind::local_address; }

// Whether nothing in the function comes before its first instruction.
bool begins_once(const Function& function) {
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    if (function.forms[i].effect.kind == Effect::Kind::branch && function.code[i].immediate == 0)
      return false;
  }
  return std::ranges::none_of(function.branch_tables, [](const std::vector<std::int64_t>& targets) {
    return std::ranges::count(targets, 0) != 0;
  });
}

// Whether its arguments are all that the function must find in its frame.
bool needs_arguments_only(const Function& function) {
  return std::ranges::all_of(function.frame_values, is_local_address) && begins_once(function);
}

}  // namespace calls

void Emitter::begin_function(const std::vector<Slot>& live) {
  const bool is_new = calls::needs_arguments_only(function_);
  for (const Slot slot : live) {
    const auto is_here = [&](const auto& named) { return named.slot == slot; };
    const auto value = std::ranges::find_if(function_.frame_values, is_here);
    const bool is_argument = std::ranges::any_of(function_.arguments, [&](const Argument& argument) {
      return argument.in_register && argument.slot == slot;
    });
    if (!is_new || is_argument) {
      restore(slot);
    } else if (value != function_.frame_values.end()) {
      line("  " + variable(slot) + " = c->local_base + " + std::to_string(value->value) + ";");
    } else if (kinds_[static_cast<std::size_t>(slot)] != Kind::constant &&
               kinds_[static_cast<std::size_t>(slot)] != Kind::loaded_constant) {
      line("  " + variable(slot) + " = 0;");
    }
  }
}

void Emitter::hand_over_arguments(const std::vector<Argument>& from, const Side& source,
                                  const std::vector<Argument>& to, const Side& target) {
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    if (to[i].in_register) line("  " + target.registers + "[" + std::to_string(to[i].slot) + "] = 0;");
    line("  __builtin_memcpy(" + calls::place_of(to[i], target.registers, target.local) + ", " +
         calls::place_of(from[i], source.registers, source.local) + ", " +
         std::to_string(std::min(from[i].bytes, to[i].bytes)) + ");");
  }
}

void Emitter::call(const Source& source) {
  const Call& call = function_.calls[static_cast<std::size_t>(source.in.immediate)];
  for (const Slot slot : source.roles.reads) save(slot);
  line("  {");
  const bool is_direct = call.callee >= 0 && calls::needs_arguments_only(
                                                 *program_.functions[static_cast<std::size_t>(call.callee)]);
  if (is_direct) {
    call_directly(source, call);
    line("  {");
  }
  line("  const u64 came_back = c->call(c, " + std::to_string(source.index) + ", left);");
  line("  left = c->left; R = c->registers;");
  line("  if (UNLIKELY(!came_back)) goto leave; }");
  if (is_direct) line("  }");
  for (const Slot slot : source.roles.writes) {
    note(slot, Type::u64);
    restore(slot);
  }
}

// Without asking the interpreter, if there is room.
void Emitter::call_directly(const Source& source, const Call& call) {
  const auto index = static_cast<std::size_t>(call.callee);
  const Function& callee = *program_.functions[index];
  const std::size_t begins = local_begin_behind(function_.local_bytes);
  const Side here{"R", "caller"};
  const Side there{"frame", "base"};
  std::string numbers;
  for (const std::size_t number : {number_, index, function_.initial.size(), callee.initial.size(),
                                   function_.local_bytes, callee.local_bytes, begins})
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
  line("  static const struct call of = {" + numbers + "};");
  line("  const u64 calls = c->calls;");
  line("  u64* frame = begin_call(c, left, R, " + std::to_string(source.index) + ", &of);");
  line("  if (frame != 0) {");
  line("  const u64 base = c->local_base, caller = base - " + std::to_string(begins) + ";");
  hand_over_arguments(call.arguments, here, callee.arguments, there);
  line("  " + symbol_of(index) + "(c, left, 0);");
  line("  left = c->left; frame = c->registers;");
  line("  R = end_call(c, calls, &of);");
  line("  if (UNLIKELY(R == 0)) goto leave;");
  hand_over_arguments(callee.results, there, call.results, here);
  line("  } else");
}

}  // namespace opgate::simulator
