#include "runtime/memory/address_range.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace opgate::simulator {
namespace address_range {

constexpr std::size_t kPage = 4096;

// Neither mapping belongs into a core file, which would be as large as all devices.
void* map(std::size_t bytes, int protection, int flags, int file) {
  void* const address = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  madvise(address, bytes, MADV_DONTDUMP);
  return address;
}

}  // namespace address_range

AddressRange::AddressRange(int devices, std::size_t bytes_of_each)
    : share_(bytes_of_each),
      bytes_(share_ * static_cast<std::size_t>(devices)),
      file_(memfd_create("opgate-simulated-device", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes_)) != 0) throw std::bad_alloc();
  alias_ = static_cast<std::byte*>(address_range::map(bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_));
  begin_ =
      reinterpret_cast<std::uint64_t>(address_range::map(bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
}

void AddressRange::drop(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t offset = address - begin_;
  const std::uint64_t first =
      (offset + address_range::kPage - 1) / address_range::kPage * address_range::kPage;
  const std::uint64_t last = (offset + bytes) / address_range::kPage * address_range::kPage;
  if (last <= first) return;
  // A system that cannot do this keeps the pages, which costs memory and nothing else.
  const int ignored = fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                                static_cast<off_t>(last - first));
  static_cast<void>(ignored);
}

}  // namespace opgate::simulator
