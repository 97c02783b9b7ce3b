// Puts the rows of all groups together.
#include "instructions/catalogue.h"

#include <unordered_map>

#include "instructions/moves_of_sums.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace catalogue {

std::unordered_map<std::string_view, Opcode> all_opcodes() {
  std::unordered_map<std::string_view, Opcode> all;
  for (const auto group : {&opcodes_of_arithmetic,
                           &opcodes_of_carries,
                           &opcodes_of_small_integers,
                           &opcodes_of_bits,
                           &opcodes_of_video,
                           &opcodes_of_permutations,
                           &opcodes_of_functions,
                           &opcodes_of_floats,
                           &opcodes_of_choices,
                           &opcodes_of_comparisons,
                           &opcodes_of_conversions,
                           &opcodes_of_moves,
                           &opcodes_of_loads,
                           &opcodes_of_atomics,
                           &opcodes_of_control,
                           &opcodes_of_async_copies,
                           &opcodes_of_mbarriers,
                           &opcodes_of_tensor_maps,
                           &opcodes_of_mma,
                           &opcodes_of_wmma,
                           &opcodes_of_wgmma,
                           &opcodes_of_matrix_moves,
                           &opcodes_of_synchronisation,
                           &opcodes_of_textures,
                           &opcodes_of_collectives,
                           &opcodes_of_clusters}) {
    for (const OpcodeRow& row : group()) {
      for (const std::string_view name : row.names) all.emplace(name, row.opcode);
    }
  }
  return all;
}

const Opcode* opcode_of(const Modifiers& words) {
  // Never destroyed: kernels may be read, and run, while the process ends.
  static const auto* const opcodes = new std::unordered_map<std::string_view, Opcode>(all_opcodes());
  const auto found = opcodes->find(words.name());
  return found == opcodes->end() ? nullptr : &found->second;
}

}  // namespace catalogue

const InstructionSet& instruction_set() {
  static const InstructionSet set{.opcode_of = &catalogue::opcode_of,
                                  .unsupported = &execute_unsupported,
                                  .call = &execute_call,
                                  .assertion = &execute_assertion,
                                  .print = &execute_print,
                                  .allocate = &execute_malloc,
                                  .release = &execute_free,
                                  .set_condition = &execute_set_condition,
                                  .branch_table = &execute_branch_table,
                                  .clock = &execute_clock,
                                  .not_predicate = &execute_not_predicate,
                                  .settle = &settle_moves_of_sums};
  return set;
}

}  // namespace opgate::simulator
