#include "runtime/memory/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace opgate::simulator {
namespace host_memory {

// Blocks of whole pages of their own: after they are unmapped, an access by the host faults.
std::size_t mapped_bytes(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return std::max<std::size_t>((bytes + kPage - 1) / kPage, 1) * kPage;
}

}  // namespace host_memory

void* HostMemory::allocate(std::size_t bytes, HostBlock::Kind kind, unsigned flags, int device,
                           unsigned char fill) {
  void* const data = mmap(nullptr, host_memory::mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  std::memset(data, fill, bytes);
  const auto begin = reinterpret_cast<std::uint64_t>(data);
  blocks_[begin] = {begin, bytes, kind, flags, device};
  return data;
}

bool HostMemory::release(std::uint64_t address, HostBlock::Kind kind) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.kind != kind) return false;
  munmap(reinterpret_cast<void*>(address), host_memory::mapped_bytes(found->second.bytes));
  blocks_.erase(found);
  return true;
}

bool HostMemory::add_registered(std::uint64_t address, std::size_t bytes, unsigned flags, int device) {
  if (overlaps(address, bytes)) return false;
  blocks_[address] = {address, bytes, HostBlock::Kind::registered, flags, device};
  return true;
}

bool HostMemory::remove_registered(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.kind != HostBlock::Kind::registered) return false;
  blocks_.erase(found);
  return true;
}

const HostBlock* HostMemory::find(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const HostBlock& block = std::prev(after)->second;
  return address < block.end() ? &block : nullptr;
}

bool HostMemory::overlaps(std::uint64_t address, std::size_t bytes) const {
  if (find(address) != nullptr) return true;
  const auto after = blocks_.upper_bound(address);
  return after != blocks_.end() && after->first < address + bytes;
}

}  // namespace opgate::simulator
