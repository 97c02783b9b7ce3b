// Which group decodes an opcode.
#include "simulator/instructions/catalogue.h"

#include <unordered_map>

#include "simulator/instructions/selectors.h"

namespace opgate::simulator {
namespace catalogue {

const Decoder* decoder_of(const Modifiers& opcode) {
  static const std::unordered_map<std::string, Decoder> decoders{
      {"add", {&select_arithmetic, 3, 3}},
      {"sub", {&select_arithmetic, 3, 3}},
      {"mul", {&select_arithmetic, 3, 3}},
      {"mad", {&select_arithmetic, 4, 4}},
      {"fma", {&select_arithmetic, 4, 4}},
      {"div", {&select_arithmetic, 3, 3}},
      {"rem", {&select_arithmetic, 3, 3}},
      {"abs", {&select_arithmetic, 2, 2}},
      {"neg", {&select_arithmetic, 2, 2}},
      {"min", {&select_arithmetic, 3, 4}},
      {"max", {&select_arithmetic, 3, 4}},
      {"addc", {&select_carry, 3, 3}},
      {"subc", {&select_carry, 3, 3}},
      {"madc", {&select_carry, 4, 4}},
      {"mul24", {&select_integer_extra, 3, 3}},
      {"mad24", {&select_integer_extra, 4, 4}},
      {"sad", {&select_integer_extra, 4, 4}},
      {"dp4a", {&select_integer_extra, 4, 4}},
      {"dp2a", {&select_integer_extra, 4, 4}},
      {"vabsdiff4", {&select_byte_differences, 4, 4}},
      {"and", {&select_bits, 3, 3}},
      {"or", {&select_bits, 3, 3}},
      {"xor", {&select_bits, 3, 3}},
      {"not", {&select_bits, 2, 2}},
      {"cnot", {&select_bits, 2, 2}},
      {"shl", {&select_bits, 3, 3}},
      {"shr", {&select_bits, 3, 3}},
      {"popc", {&select_bits, 2, 2}},
      {"clz", {&select_bits, 2, 2}},
      {"bfind", {&select_bits, 2, 2}},
      {"brev", {&select_bits, 2, 2}},
      {"bfe", {&select_bits, 4, 4}},
      {"bfi", {&select_bits, 5, 5}},
      {"szext", {&select_bits, 3, 3}},
      {"bmsk", {&select_bits, 3, 3}},
      {"fns", {&select_bits, 4, 4}},
      {"lop3", {&select_lop3, 5, 6}},
      {"prmt", {&select_permute, 4, 4}},
      {"shf", {&select_funnel_shift, 4, 4}},
      {"ex2", {&select_function, 2, 2}},
      {"lg2", {&select_function, 2, 2}},
      {"sin", {&select_function, 2, 2}},
      {"cos", {&select_function, 2, 2}},
      {"tanh", {&select_function, 2, 2}},
      {"rcp", {&select_function, 2, 2}},
      {"sqrt", {&select_function, 2, 2}},
      {"rsqrt", {&select_function, 2, 2}},
      {"copysign", {&select_copysign, 3, 3}},
      {"testp", {&select_testp, 2, 2}},
      {"setp", {&select_setp, 3, 4}},
      {"set", {&select_set, 3, 4}},
      {"selp", {&select_selp, 4, 4}},
      {"slct", {&select_slct, 4, 4}},
      {"cvt", {&select_conversion, 2, 4}},
      {"mov", {&select_move, 2, 2}},
      {"cvta", {&select_address_conversion, 2, 2}},
      {"isspacep", {&select_isspacep, 2, 2}},
      {"ld", {&select_load, 2, 3}},
      {"ldu", {&select_load, 2, 3}},
      {"st", {&select_store, 2, 3}},
      {"atom", {&select_atomic, 3, 5}},
      {"red", {&select_atomic, 2, 3}},
      {"bra", {&select_branch, 0, kNotRead}},
      {"ret", {&select_return, 0, 0}},
      {"exit", {&select_exit, 0, 0}},
      {"trap", {&select_trap, 0, 0}},
      {"cp", {&select_copy, 0, 8}},
      {"mbarrier", {&select_mbarrier, 1, 4}},
      {"mma", {&select_matrix_product, 4, 12}},
      {"wmma", {&select_warp_matrix, 2, 5}},
      {"ldmatrix", {&select_load_matrix, 2, 2}},
      {"stmatrix", {&select_store_matrix, 2, 2}},
      {"movmatrix", {&select_move_matrix, 2, 2}},
      {"bar", {&select_barrier, 1, 4}},
      {"barrier", {&select_barrier, 0, 4}},
      {"shfl", {&select_shuffle, 5, 5}},
      {"vote", {&select_vote, 3, 3}},
      {"match", {&select_match, 3, 3}},
      {"redux", {&select_redux, 3, 3}},
      {"elect", {&select_elect, 2, 2}},
      {"activemask", {&select_active_mask, 1, 1}},
      {"nanosleep", {&select_nanosleep, 1, 1}},
      {"membar", {&select_no_effect, 0, kNotRead}},
      {"fence", {&select_no_effect, 0, kNotRead}},
      {"prefetch", {&select_no_effect, 0, kNotRead}},
      {"prefetchu", {&select_no_effect, 0, kNotRead}},
      {"applypriority", {&select_no_effect, 0, kNotRead}},
      {"pmevent", {&select_no_effect, 0, kNotRead}},
      {"createpolicy", {&select_no_effect, 0, kNotRead}},
      {"setmaxnreg", {&select_no_effect, 0, kNotRead}},
      {"griddepcontrol", {&select_no_effect, 0, kNotRead}},
  };
  // Its addresses have coordinates.
  if (opcode.name() == "cp" && opcode.has("tensor")) return nullptr;
  const auto found = decoders.find(opcode.name());
  return found == decoders.end() ? nullptr : &found->second;
}

}  // namespace catalogue

const InstructionSet& instruction_set() {
  static const InstructionSet set{.decoder_of = &catalogue::decoder_of,
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
