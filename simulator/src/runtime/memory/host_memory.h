// Memory of the host that devices can access at the same address: pinned, managed or registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace opgate::simulator {

struct HostBlock {
  enum class Kind : std::uint8_t { pinned, managed, registered };

  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  Kind kind = Kind::pinned;
  unsigned flags = 0;  ///< of cudaHostAlloc or cudaHostRegister
  int device = 0;      ///< that was current when the memory was made

  std::uint64_t end() const { return begin + bytes; }
};

class HostMemory {
 public:
  /// New pinned or managed memory, which is filled as device memory is; null if the system has no more.
  void* allocate(std::size_t bytes, HostBlock::Kind kind, unsigned flags, int device, unsigned char fill);

  /// False if no block of this kind begins at the address.
  bool release(std::uint64_t address, HostBlock::Kind kind);

  /// False if some of the memory is registered or pinned already.
  bool add_registered(std::uint64_t address, std::size_t bytes, unsigned flags, int device);
  bool remove_registered(std::uint64_t address);

  /// The block that an address lies in, or null.
  const HostBlock* find(std::uint64_t address) const;

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [begin, block] : blocks_) visit(block);
  }

  /// Whether some byte of a region lies in a block.
  bool overlaps(std::uint64_t address, std::size_t bytes) const;

 private:
  std::map<std::uint64_t, HostBlock> blocks_;  // by start
};

}  // namespace opgate::simulator
