// What an instruction reads and writes, and whether it may change what the thread does next.
#pragma once

#include <vector>

#include "ptx/opcode.h"
#include "ptx/program.h"

namespace opgate::simulator {

struct Roles {
  std::vector<Slot> reads;  ///< without the guard
  std::vector<Slot> writes;
  /// Its handler may let the thread wait, call, return or branch: compiled code cannot go on after it.
  bool stops = false;
  Waits waits = Waits::never;         ///< whether a thread waits at it, and for which others
  bool ends = false;                  ///< nothing in the function comes after it, unless its guard is false
  std::vector<std::int64_t> targets;  ///< of branches
};

Roles roles_of(const Function& function, std::size_t index);

}  // namespace opgate::simulator
