// Who has accessed each part of a memory last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "watch/access_record.h"
#include "watch/pages.h"

namespace opgate::simulator {

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
  };

  /// The granules of an access, whose address must be a multiple of `bytes`.
  Part at(std::uint64_t address, unsigned bytes) {
    Page& page = pages_.at(address / kPage);
    if (bytes < (1u << page.shift)) divide(page, bytes);
    const unsigned offset = static_cast<unsigned>(address % kPage);
    return {&page.granules[offset >> page.shift], bytes >> page.shift};
  }

  /// These bytes were never accessed. Those of their granules that lie beyond them are forgotten as well.
  void forget(std::uint64_t begin, std::size_t bytes);

 private:
  static constexpr std::uint64_t kPage = 1024;

  struct Page {
    unsigned shift = 2;
    std::vector<Granule> granules = std::vector<Granule>(kPage >> 2);
  };

  static void divide(Page& page, unsigned bytes);

  Pages<Page> pages_;
};

}  // namespace opgate::simulator
