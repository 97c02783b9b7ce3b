// Decides whether blocks of a kernel may run at the same time, and whether that is worth it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ptx/program.h"

namespace opgate::simulator {

/// What a kernel does to global memory by reductions, for each of which a thread of the host may have to wait
/// for others.
struct Reductions {
  std::size_t outside_loops = 0;
  /// Instructions of a loop for each reduction in it, where they are the fewest; 0: no loop has one.
  std::size_t least_in_loop = 0;

  /// Roughly how many instructions are executed for each one, if a thread executes so many.
  std::uint64_t instructions_for_each(std::uint64_t of_a_thread) const;
};

Reductions reductions_of(const Program& program);

/// What keeps the blocks of the kernel on one thread of the host: an instruction whose result, or what it
/// does, may depend on the order in which blocks run ("atom.global.add.u32, whose result is used"). Empty if
/// there is none. Races between plain accesses of two blocks are not looked for.
std::string why_one_thread(const Program& program);

}  // namespace opgate::simulator
