// Who has accessed each part of a memory last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace opgate::simulator {

/// One access. Blocks are numbered in the order in which they begin, from 1; `clock` is a time of the block.
struct AccessRecord {
  std::uint32_t block = 0;  ///< 0: there was no access
  std::uint32_t clock = 0;
  std::uint32_t thread : 10 = 0;
  std::uint32_t site : 19 = 0;
  std::uint32_t is_strong : 1 = 0;
  std::uint32_t is_volatile : 1 = 0;
  std::uint32_t in_block : 1 = 0;  ///< strong for the threads of its block only
};

/// The accesses that a later one may race with. Of the threads that read, two are enough to find a race
/// with a writer: it cannot be both of them.
struct Granule {
  AccessRecord write;
  std::array<AccessRecord, 2> reads;
};

/// Granules are of 4 bytes, or smaller where smaller accesses were seen nearby.
class Shadow {
 public:
  struct Part {
    Granule* first = nullptr;
    unsigned count = 0;
    unsigned bytes_each = 4;
  };

  /// The granules of an access, whose address must be a multiple of `bytes`.
  Part at(std::uint64_t address, unsigned bytes) {
    const std::uint64_t number = address / kPage;
    auto& [cached, page] = cache_[number % cache_.size()];
    if (cached != number) look_up(number);
    if (bytes < (1u << page->shift)) divide(*page, bytes);
    const unsigned offset = static_cast<unsigned>(address % kPage);
    return {&page->granules[offset >> page->shift], bytes >> page->shift, 1u << page->shift};
  }

 private:
  static constexpr std::uint64_t kPage = 1024;

  struct Page {
    unsigned shift = 2;
    std::vector<Granule> granules = std::vector<Granule>(kPage >> 2);
  };

  void look_up(std::uint64_t number);
  static void divide(Page& page, unsigned bytes);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<std::pair<std::uint64_t, Page*>, 256> cache_ = no_pages();

  static std::array<std::pair<std::uint64_t, Page*>, 256> no_pages() {
    std::array<std::pair<std::uint64_t, Page*>, 256> cache;
    cache.fill({~std::uint64_t{0}, nullptr});
    return cache;
  }
};

}  // namespace opgate::simulator
