// The groups of instructions. Each is a file, with the rows of its opcodes, a selector and the handlers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "numbers/atomic_operations.h"
#include "numbers/matrix_product.h"
#include "ptx/draft.h"
#include "ptx/opcode.h"

namespace opgate::simulator {

/// What is known of the opcodes of one name, or of several names.
struct OpcodeRow {
  OpcodeRow(std::string_view name, const Opcode& known) : names{name}, opcode(known) {}
  OpcodeRow(std::initializer_list<std::string_view> all, const Opcode& known) : names(all), opcode(known) {}

  std::vector<std::string_view> names;
  Opcode opcode;
};

// The rows of each group. The decoder, the translation to C and the tools that watch all read them.
std::vector<OpcodeRow> opcodes_of_arithmetic();
std::vector<OpcodeRow> opcodes_of_carries();
std::vector<OpcodeRow> opcodes_of_small_integers();
std::vector<OpcodeRow> opcodes_of_video();
std::vector<OpcodeRow> opcodes_of_bits();
std::vector<OpcodeRow> opcodes_of_permutations();
std::vector<OpcodeRow> opcodes_of_functions();
std::vector<OpcodeRow> opcodes_of_floats();
std::vector<OpcodeRow> opcodes_of_choices();
std::vector<OpcodeRow> opcodes_of_comparisons();
std::vector<OpcodeRow> opcodes_of_conversions();
std::vector<OpcodeRow> opcodes_of_moves();
std::vector<OpcodeRow> opcodes_of_loads();
std::vector<OpcodeRow> opcodes_of_atomics();
std::vector<OpcodeRow> opcodes_of_clusters();
std::vector<OpcodeRow> opcodes_of_control();
std::vector<OpcodeRow> opcodes_of_async_copies();
std::vector<OpcodeRow> opcodes_of_mbarriers();
std::vector<OpcodeRow> opcodes_of_tensor_maps();
std::vector<OpcodeRow> opcodes_of_mma();
std::vector<OpcodeRow> opcodes_of_wmma();
std::vector<OpcodeRow> opcodes_of_wgmma();
std::vector<OpcodeRow> opcodes_of_matrix_moves();
std::vector<OpcodeRow> opcodes_of_synchronisation();
std::vector<OpcodeRow> opcodes_of_collectives();
std::vector<OpcodeRow> opcodes_of_textures();

// Arithmetic whose opcode serves several kinds of numbers: the type decides which of these is asked.
Handler integer_arithmetic(Draft& draft, Type type);
Handler float_arithmetic(Draft& draft, Type type);
Handler small_float_arithmetic(Draft& draft, Type type);
Handler integer_with_carry(Draft& draft, Type type, bool carries_in, bool carries_out);
Handler small_conversion(Draft& draft, Type to, Type from, Rounding rounding);

/// The operation of an atomic access; none for a compare-and-swap.
std::optional<AtomicOperation> take_atomic_operation(Modifiers& words);

// Forms of an opcode that are in another file.
Handler select_async_store(Draft& draft);       // st.async and red.async
Handler select_bulk_copy(Draft& draft);         // cp.async.bulk
Handler select_cluster_barrier(Draft& draft);   // barrier.cluster
Handler select_tensor_copy(Draft& draft);       // cp.async.bulk.tensor
Handler select_pack_conversion(Draft& draft);   // cvt.pack
Handler select_no_effect(Draft& draft);         // fences, prefetches; also cp.async.bulk.prefetch
Handler select_promised_arrival(Draft& draft);  // cp.async.mbarrier
Handler select_quad_products(Draft& draft, const Product& product, bool a_by_columns, bool b_by_columns);

// What decoding itself inserts or needs.
void execute_nothing(Thread& thread, const Instruction& in);
void execute_unsupported(Thread& thread, const Instruction& in);
void execute_call(Thread& thread, const Instruction& in);
void execute_branch_table(Thread& thread, const Instruction& in);
void execute_assertion(Thread& thread, const Instruction& in);
void execute_print(Thread& thread, const Instruction& in);
void execute_malloc(Thread& thread, const Instruction& in);
void execute_free(Thread& thread, const Instruction& in);
void execute_set_condition(Thread& thread, const Instruction& in);
/// Whether it is the call of a function without PTX, which returns at once.
bool is_host_call(Handler handler);
void execute_clock(Thread& thread, const Instruction& in);
void execute_not_predicate(Thread& thread, const Instruction& in);

}  // namespace opgate::simulator
