// Parts of a function that are executed as a whole: compiled code counts the instructions of a chunk at once.
#pragma once

#include <cstdint>
#include <vector>

#include "compiled/roles.h"

namespace opgate::simulator {

struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< the index after its last instruction
  bool is_turn_end = false;
  bool is_entry = false;  ///< compiled code can be entered here
  std::vector<Slot>
      live;  ///< registers that may be read, at its start or later, before they are written; ascending
  std::vector<std::size_t> next;  ///< chunks that may follow
};

std::vector<Chunk> chunks_of(const Function& function, const std::vector<Roles>& roles);

}  // namespace opgate::simulator
