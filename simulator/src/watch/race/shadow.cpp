#include "watch/race/shadow.h"

#include <algorithm>
#include <utility>

namespace opgate::simulator {

void Shadow::divide(Page& page, unsigned bytes) {
  unsigned shift = page.shift;
  while (bytes < (1u << shift)) --shift;
  std::vector<Granule> smaller(kPage >> shift);
  for (std::size_t i = 0; i < smaller.size(); ++i) smaller[i] = page.granules[i >> (page.shift - shift)];
  page.granules = std::move(smaller);
  page.shift = shift;
}

void Shadow::forget(std::uint64_t begin, std::size_t bytes) {
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::uint64_t until = std::min(end, (begin / kPage + 1) * kPage);
    Page& page = pages_.at(begin / kPage);
    const auto first = page.granules.begin() + static_cast<std::ptrdiff_t>(begin % kPage >> page.shift);
    const auto last = page.granules.begin() + static_cast<std::ptrdiff_t>((until - 1) % kPage >> page.shift);
    std::fill(first, last + 1, Granule{});
    begin = until;
  }
}

}  // namespace opgate::simulator
