// A place in shared memory, which may be that of another block of the cluster.
#pragma once

#include <cstdint>

namespace opgate::simulator {

class Block;

struct SharedPlace {
  Block* block = nullptr;
  std::uint32_t offset = 0;

  bool operator==(const SharedPlace&) const = default;
};

}  // namespace opgate::simulator
