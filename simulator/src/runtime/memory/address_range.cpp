#include "runtime/memory/address_range.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace opgate::simulator {
namespace address_range {

constexpr std::size_t kPage = 4096;

// The size of the file of unwritten memory, and of the smallest region that is mapped from it. Each mapping
// of it counts towards the 65,530 that Linux allows a process: enough for 256 GB of allocations.
constexpr std::size_t kUnwritten = std::size_t{4} << 20;

// A region's whole pages, as offsets into the range.
struct Pages {
  std::uint64_t first;
  std::uint64_t last;
};

Pages whole_pages(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t first = (offset + kPage - 1) / kPage * kPage;
  return {first, std::max(first, (offset + bytes) / kPage * kPage)};
}

// Neither mapping belongs into a core file, which would be as large as all devices.
void* map(std::size_t bytes, int protection, int flags, int file) {
  void* const address = mmap(nullptr, bytes, protection, flags | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  madvise(address, bytes, MADV_DONTDUMP);
  return address;
}

// Whether the process has a limit for its own memory, to which the mappings count as if they were written.
bool counts_mappings() {
  rlimit limit{};
  return getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Huge regions are written at both ends only: a test that asks for 8 GB for the sake of their indices must
// not make the system provide all of it.
constexpr std::size_t kWrittenWhole = std::size_t{1} << 30;
constexpr std::size_t kWrittenEnds = std::size_t{64} << 20;

void write_bytes(std::byte* data, unsigned char byte, std::size_t bytes) {
  const bool is_huge = bytes > kWrittenWhole;
  std::memset(data, byte, is_huge ? kWrittenEnds : bytes);
  if (is_huge) std::memset(data + bytes - kWrittenEnds, byte, kWrittenEnds);
}

}  // namespace address_range

AddressRange::AddressRange(int devices, std::size_t bytes_of_each, unsigned char fill)
    : share_(bytes_of_each),
      bytes_(share_ * static_cast<std::size_t>(devices)),
      file_(memfd_create("opgate-simulated-device", MFD_CLOEXEC)),
      fill_(fill),
      unwritten_(memfd_create("opgate-unwritten-memory", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes_)) != 0) throw std::bad_alloc();
  const std::vector<unsigned char> unwritten(address_range::kUnwritten, fill);
  if (write(unwritten_, unwritten.data(), unwritten.size()) != static_cast<ssize_t>(unwritten.size()))
    throw std::bad_alloc();
  alias_ = static_cast<std::byte*>(address_range::map(bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_));
  begin_ =
      reinterpret_cast<std::uint64_t>(address_range::map(bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
}

bool AddressRange::map_unwritten(std::uint64_t first, std::uint64_t last) const {
  for (std::uint64_t offset = first; offset < last; offset += address_range::kUnwritten) {
    const std::size_t bytes = std::min<std::uint64_t>(address_range::kUnwritten, last - offset);
    void* const address = mmap(alias_ + offset, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, unwritten_, 0);
    if (address == MAP_FAILED) return false;
    madvise(address, bytes, MADV_DONTDUMP);
  }
  return true;
}

void AddressRange::fill(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t offset = address - begin_;
  const auto [first, last] = address_range::whole_pages(offset, bytes);
  // A system that allows no more mappings gets the bytes written, which costs memory and nothing else.
  if (last - first < address_range::kUnwritten || address_range::counts_mappings() ||
      !map_unwritten(first, last)) {
    address_range::write_bytes(alias_ + offset, fill_, bytes);
    return;
  }
  std::memset(alias_ + offset, fill_, first - offset);
  std::memset(alias_ + last, fill_, offset + bytes - last);
}

void AddressRange::drop(std::uint64_t address, std::size_t bytes) const {
  const auto [first, last] = address_range::whole_pages(address - begin_, bytes);
  if (last == first) return;
  // A system that cannot do one of these keeps the pages, which costs memory and nothing else.
  const bool is_mapped_from_unwritten = last - first >= address_range::kUnwritten;
  if (is_mapped_from_unwritten) {
    void* const mapped = mmap(alias_ + first, last - first, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_, static_cast<off_t>(first));
    if (mapped != MAP_FAILED) madvise(mapped, last - first, MADV_DONTDUMP);
  }
  const int ignored = fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                                static_cast<off_t>(last - first));
  static_cast<void>(ignored);
}

}  // namespace opgate::simulator
