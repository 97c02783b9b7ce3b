// Moves of registers that belong to a product of `wgmma`. PTX leaves open what they give before the warp has
// waited for the product. ptxas takes them for what they are and lets them wait, and Triton relies on that:
// it unpacks sums of halves in front of the wait.
#pragma once

#include <set>

#include "machine/thread.h"

namespace opgate::simulator {

struct Function;
struct MoveOfSums;

/// Gives each move that may read a register of a pending product, or a copy of one, the handler
/// `execute_move_of_sums`.
void settle_moves_of_sums(Function& function);

/// Moves at once what the registers hold, and once more when the warp has waited for the products that they
/// belong to.
void execute_move_of_sums(Thread& thread, const Instruction& in);

/// What executes the instruction; for one with the handler above, what only moves.
Handler plain_handler(const Instruction& in);

void repeat_move(Thread& thread, const MoveOfSums& move);

/// All registers that products of the function use until they are waited for, and those to which moves copy
/// them before. The moves must be settled.
std::set<Slot> registers_of_products(const Function& function);

/// Those that moves copy to a register of a product.
std::set<Slot> sources_of_products(const Function& function);

}  // namespace opgate::simulator
