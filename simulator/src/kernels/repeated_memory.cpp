#include "kernels/repeated_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace opgate::simulator {
namespace repeated_memory {

constexpr std::uint64_t kPage = KeptMemory::kPage;

std::size_t bytes_of(const Allocated& allocation, std::uint64_t page) {
  return std::min<std::size_t>(kPage, allocation.bytes - page * kPage);
}

// Calls a function with each page of the allocation that a range lies in, and gives how many bytes there are
// until the last of them ends.
template <class Visit>
std::size_t for_each_page(const Allocated& allocation, std::uint64_t address, std::size_t bytes,
                          Visit&& visit) {
  const std::uint64_t offset = address - allocation.begin;
  const std::uint64_t last = (offset + std::max<std::size_t>(bytes, 1) - 1) / kPage;
  for (std::uint64_t page = offset / kPage; page <= last; ++page) visit(page);
  return std::min<std::uint64_t>((last + 1) * kPage, allocation.bytes) - offset;
}

void copy_page_of(DeviceMemory& memory, const Allocated& allocation, std::uint64_t page, unsigned char* to) {
  const std::size_t bytes = bytes_of(allocation, page);
  std::size_t until = 0;
  std::string why;
  std::memcpy(to, memory.translate(allocation.begin + page * kPage, bytes, Access::load, until, why), bytes);
}

}  // namespace repeated_memory

void* KeptMemory::translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                            std::string& why) {
  void* const place = memory_.translate(address, bytes, access, until, why);
  if (place == nullptr || access == Access::load) return place;
  const Allocated allocation = memory_.allocation_of(address);
  until = repeated_memory::for_each_page(allocation, address, bytes, [&](std::uint64_t page) {
    std::vector<unsigned char>& kept = pages_[allocation.begin + page * kPage];
    if (!kept.empty()) return;
    kept.resize(repeated_memory::bytes_of(allocation, page));
    repeated_memory::copy_page_of(memory_, allocation, page, kept.data());
  });
  return place;
}

void KeptMemory::copy_page(const Allocated& allocation, std::uint64_t page, unsigned char* to) {
  const auto kept = pages_.find(allocation.begin + page * kPage);
  if (kept != pages_.end())
    std::ranges::copy(kept->second, to);
  else
    repeated_memory::copy_page_of(memory_, allocation, page, to);
}

std::vector<std::uint64_t> KeptMemory::written() const {
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, bytes] : pages_) addresses.push_back(address);
  return addresses;
}

RepeatedMemory::Copy::Copy(std::size_t bytes) : bytes_(bytes) {
  void* const place =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  begin = static_cast<unsigned char*>(place);
}

RepeatedMemory::Copy::~Copy() { munmap(begin, bytes_); }

RepeatedMemory::Copy& RepeatedMemory::copy_of(const Allocated& allocation) {
  std::unique_ptr<Copy>& copy = copies_[allocation.begin];
  if (copy == nullptr) copy = std::make_unique<Copy>(allocation.bytes);
  return *copy;
}

unsigned char* RepeatedMemory::page_of(const Allocated& allocation, std::uint64_t page) {
  Copy& copy = copy_of(allocation);
  unsigned char* const place = copy.begin + page * KeptMemory::kPage;
  if (copy.pages.insert(page).second) kept_.copy_page(allocation, page, place);
  return place;
}

void* RepeatedMemory::translate(std::uint64_t address, std::size_t bytes, Access /*access*/,
                                std::size_t& until, std::string& why) {
  // As the memory itself refuses it; a store may be asked for as a load, since the memory stays as it is.
  if (kept_.translate(address, bytes, Access::load, until, why) == nullptr) return nullptr;
  const Allocated allocation = kept_.allocation_of(address);
  accesses_host_ = accesses_host_ || allocation.is_of_host;
  until = repeated_memory::for_each_page(allocation, address, bytes,
                                         [&](std::uint64_t page) { page_of(allocation, page); });
  return copy_of(allocation).begin + (address - allocation.begin);
}

bool RepeatedMemory::has_left_the_same() {
  for (const std::uint64_t address : kept_.written()) {
    const Allocated allocation = allocation_of(address);
    page_of(allocation, (address - allocation.begin) / KeptMemory::kPage);
  }
  for (const auto& [begin, copy] : copies_) {
    const Allocated allocation = allocation_of(begin);
    for (const std::uint64_t page : copy->pages) {
      const std::size_t bytes = repeated_memory::bytes_of(allocation, page);
      std::size_t until = 0;
      std::string why;
      const std::uint64_t offset = page * KeptMemory::kPage;
      const void* const now = kept_.translate(begin + offset, bytes, Access::load, until, why);
      if (std::memcmp(copy->begin + offset, now, bytes) != 0) return false;
    }
  }
  return true;
}

}  // namespace opgate::simulator
