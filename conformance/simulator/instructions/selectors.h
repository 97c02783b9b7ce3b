// Where the selectors of all groups of instructions are. Each group is a file.
#pragma once

#include "simulator/numbers/matrix_product.h"
#include "simulator/ptx/draft.h"

namespace opgate::simulator {

// Arithmetic whose opcode serves several kinds of numbers: the type decides which of the functions below is
// asked.
Handler select_arithmetic(Draft& draft);
Handler integer_arithmetic(Draft& draft, Type type);
Handler float_arithmetic(Draft& draft, Type type);
Handler small_float_arithmetic(Draft& draft, Type type);

Handler integer_with_carry(Draft& draft, Type type, bool carries_in, bool carries_out);

Handler select_carry(Draft& draft);             // addc subc madc
Handler select_integer_extra(Draft& draft);     // mul24 mad24 sad dp4a dp2a
Handler select_byte_differences(Draft& draft);  // vabsdiff4
Handler select_bits(Draft& draft);  // and or xor not cnot shl shr popc clz bfind brev bfe bfi szext bmsk fns
Handler select_lop3(Draft& draft);
Handler select_permute(Draft& draft);       // prmt
Handler select_funnel_shift(Draft& draft);  // shf
Handler select_function(Draft& draft);      // ex2 lg2 sin cos tanh rcp sqrt rsqrt
Handler select_copysign(Draft& draft);
Handler select_testp(Draft& draft);
Handler select_setp(Draft& draft);
Handler select_set(Draft& draft);
Handler select_selp(Draft& draft);
Handler select_slct(Draft& draft);
Handler select_conversion(Draft& draft);  // cvt
Handler small_conversion(Draft& draft, Type to, Type from, Rounding rounding);
Handler select_move(Draft& draft);                // mov
Handler select_address_conversion(Draft& draft);  // cvta
Handler select_isspacep(Draft& draft);
Handler select_load(Draft& draft);
Handler select_store(Draft& draft);
Handler select_atomic(Draft& draft);          // atom red
Handler select_copy(Draft& draft);            // cp.async
Handler select_matrix_product(Draft& draft);  // mma
Handler select_quad_products(Draft& draft, const Product& product, bool a_by_columns, bool b_by_columns);
Handler select_warp_matrix(Draft& draft);       // wmma
Handler select_load_matrix(Draft& draft);       // ldmatrix
Handler select_store_matrix(Draft& draft);      // stmatrix
Handler select_move_matrix(Draft& draft);       // movmatrix
Handler select_bulk_copy(Draft& draft);         // cp.async.bulk
Handler select_promised_arrival(Draft& draft);  // cp.async.mbarrier
Handler select_mbarrier(Draft& draft);
Handler select_branch(Draft& draft);
Handler select_return(Draft& draft);
Handler select_exit(Draft& draft);
Handler select_trap(Draft& draft);
Handler select_barrier(Draft& draft);
Handler select_shuffle(Draft& draft);
Handler select_vote(Draft& draft);
Handler select_match(Draft& draft);
Handler select_redux(Draft& draft);
Handler select_elect(Draft& draft);
Handler select_active_mask(Draft& draft);
Handler select_nanosleep(Draft& draft);
Handler select_no_effect(Draft& draft);  // fences, prefetches

// What decoding itself inserts or needs.
void execute_nothing(Thread& thread, const Instruction& in);
void execute_unsupported(Thread& thread, const Instruction& in);
void execute_call(Thread& thread, const Instruction& in);
void execute_branch_table(Thread& thread, const Instruction& in);
void execute_assertion(Thread& thread, const Instruction& in);
void execute_print(Thread& thread, const Instruction& in);
void execute_clock(Thread& thread, const Instruction& in);
void execute_not_predicate(Thread& thread, const Instruction& in);

}  // namespace opgate::simulator
