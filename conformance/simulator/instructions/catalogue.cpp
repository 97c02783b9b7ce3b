// What is known of each opcode: how many operands it has, whether the first one is a result, whether threads wait, and what it
// does besides computing. The decoder, the translation to C and the tools that watch all read these rows.
#include "simulator/instructions/catalogue.h"

#include <unordered_map>

#include "simulator/instructions/selectors.h"

namespace opgate::simulator {
namespace catalogue {

const Opcode* opcode_of(const Modifiers& words) {
  static const std::unordered_map<std::string, Opcode> opcodes{
      {"add", {&select_arithmetic, 3, 3, Result::first, Waits::never, Effect::none}},
      {"sub", {&select_arithmetic, 3, 3, Result::first, Waits::never, Effect::none}},
      {"mul", {&select_arithmetic, 3, 3, Result::first, Waits::never, Effect::none}},
      {"mad", {&select_arithmetic, 4, 4, Result::first, Waits::never, Effect::none}},
      {"fma", {&select_arithmetic, 4, 4, Result::first, Waits::never, Effect::none}},
      {"div", {&select_arithmetic, 3, 3, Result::first, Waits::never, Effect::none}},
      {"rem", {&select_arithmetic, 3, 3, Result::first, Waits::never, Effect::none}},
      {"abs", {&select_arithmetic, 2, 2, Result::first, Waits::never, Effect::none}},
      {"neg", {&select_arithmetic, 2, 2, Result::first, Waits::never, Effect::none}},
      {"min", {&select_arithmetic, 3, 4, Result::first, Waits::never, Effect::none}},
      {"max", {&select_arithmetic, 3, 4, Result::first, Waits::never, Effect::none}},
      {"addc", {&select_carry, 3, 3, Result::first, Waits::never, Effect::none}},
      {"subc", {&select_carry, 3, 3, Result::first, Waits::never, Effect::none}},
      {"madc", {&select_carry, 4, 4, Result::first, Waits::never, Effect::none}},
      {"mul24", {&select_integer_extra, 3, 3, Result::first, Waits::never, Effect::none}},
      {"mad24", {&select_integer_extra, 4, 4, Result::first, Waits::never, Effect::none}},
      {"sad", {&select_integer_extra, 4, 4, Result::first, Waits::never, Effect::none}},
      {"dp4a", {&select_integer_extra, 4, 4, Result::first, Waits::never, Effect::none}},
      {"dp2a", {&select_integer_extra, 4, 4, Result::first, Waits::never, Effect::none}},
      {"vabsdiff4", {&select_byte_differences, 4, 4, Result::first, Waits::never, Effect::none}},
      {"and", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"or", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"xor", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"not", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"cnot", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"shl", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"shr", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"popc", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"clz", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"bfind", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"brev", {&select_bits, 2, 2, Result::first, Waits::never, Effect::none}},
      {"bfe", {&select_bits, 4, 4, Result::first, Waits::never, Effect::none}},
      {"bfi", {&select_bits, 5, 5, Result::first, Waits::never, Effect::none}},
      {"szext", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"bmsk", {&select_bits, 3, 3, Result::first, Waits::never, Effect::none}},
      {"fns", {&select_bits, 4, 4, Result::first, Waits::never, Effect::none}},
      {"lop3", {&select_lop3, 5, 6, Result::first, Waits::never, Effect::none}},
      {"prmt", {&select_permute, 4, 4, Result::first, Waits::never, Effect::none}},
      {"shf", {&select_funnel_shift, 4, 4, Result::first, Waits::never, Effect::none}},
      {"ex2", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"lg2", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"sin", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"cos", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"tanh", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"rcp", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"sqrt", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"rsqrt", {&select_function, 2, 2, Result::first, Waits::never, Effect::none}},
      {"copysign", {&select_copysign, 3, 3, Result::first, Waits::never, Effect::none}},
      {"testp", {&select_testp, 2, 2, Result::first, Waits::never, Effect::none}},
      {"setp", {&select_setp, 3, 4, Result::first, Waits::never, Effect::none}},
      {"set", {&select_set, 3, 4, Result::first, Waits::never, Effect::none}},
      {"selp", {&select_selp, 4, 4, Result::first, Waits::never, Effect::none}},
      {"slct", {&select_slct, 4, 4, Result::first, Waits::never, Effect::none}},
      {"cvt", {&select_conversion, 2, 4, Result::first, Waits::never, Effect::none}},
      {"mov", {&select_move, 2, 2, Result::first, Waits::never, Effect::none}},
      {"cvta", {&select_address_conversion, 2, 2, Result::first, Waits::never, Effect::none}},
      {"isspacep", {&select_isspacep, 2, 2, Result::first, Waits::never, Effect::none}},
      {"ld", {&select_load, 2, 3, Result::first, Waits::never, Effect::load}},
      {"ldu", {&select_load, 2, 3, Result::first, Waits::never, Effect::load}},
      {"st", {&select_store, 2, 3, Result::none, Waits::never, Effect::store}},
      {"atom", {&select_atomic, 3, 5, Result::first, Waits::never, Effect::atomic}},
      {"red", {&select_atomic, 2, 3, Result::none, Waits::never, Effect::reduction}},
      {"bra", {&select_branch, 0, kNotRead, Result::none, Waits::never, Effect::branch}},
      {"ret", {&select_return, 0, 0, Result::none, Waits::never, Effect::leave_function}},
      {"exit", {&select_exit, 0, 0, Result::none, Waits::never, Effect::leave_kernel}},
      {"trap", {&select_trap, 0, 0, Result::none, Waits::never, Effect::none}},
      {"cp", {&select_copy, 0, 8, Result::none, Waits::never, Effect::copy}},
      {"mbarrier", {&select_mbarrier, 1, 4, Result::of_mbarrier, Waits::if_it_looks, Effect::mbarrier}},
      {"mma", {&select_matrix_product, 4, 12, Result::first, Waits::for_warp, Effect::none}},
      {"wmma", {&select_warp_matrix, 2, 5, Result::unless_stored, Waits::for_warp, Effect::fragment}},
      {"ldmatrix", {&select_load_matrix, 2, 2, Result::first, Waits::for_warp, Effect::load_matrix}},
      {"stmatrix", {&select_store_matrix, 2, 2, Result::none, Waits::for_warp, Effect::store_matrix}},
      {"movmatrix", {&select_move_matrix, 2, 2, Result::first, Waits::for_warp, Effect::none}},
      {"bar", {&select_barrier, 1, 4, Result::of_reduction, Waits::otherwise, Effect::barrier}},
      {"barrier", {&select_barrier, 0, 4, Result::of_reduction, Waits::otherwise, Effect::barrier}},
      {"shfl", {&select_shuffle, 5, 5, Result::first, Waits::for_lanes, Effect::none}},
      {"vote", {&select_vote, 3, 3, Result::first, Waits::for_lanes, Effect::none}},
      {"match", {&select_match, 3, 3, Result::first, Waits::for_lanes, Effect::none}},
      {"redux", {&select_redux, 3, 3, Result::first, Waits::for_lanes, Effect::none}},
      {"elect", {&select_elect, 2, 2, Result::first, Waits::otherwise, Effect::none}},
      {"activemask", {&select_active_mask, 1, 1, Result::first, Waits::otherwise, Effect::none}},
      {"nanosleep", {&select_nanosleep, 1, 1, Result::none, Waits::otherwise, Effect::none}},
      {"membar", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::fence}},
      {"fence", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::fence}},
      {"prefetch", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"prefetchu", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"applypriority", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"pmevent", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"createpolicy", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"setmaxnreg", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
      {"griddepcontrol", {&select_no_effect, 0, kNotRead, Result::none, Waits::never, Effect::none}},
  };
  // Its addresses have coordinates.
  if (words.name() == "cp" && words.has("tensor")) return nullptr;
  const auto found = opcodes.find(words.name());
  return found == opcodes.end() ? nullptr : &found->second;
}

}  // namespace catalogue

const InstructionSet& instruction_set() {
  static const InstructionSet set{.opcode_of = &catalogue::opcode_of,
                                  .unsupported = &execute_unsupported,
                                  .call = &execute_call,
                                  .assertion = &execute_assertion,
                                  .print = &execute_print,
                                  .branch_table = &execute_branch_table,
                                  .clock = &execute_clock,
                                  .not_predicate = &execute_not_predicate};
  return set;
}

}  // namespace opgate::simulator
