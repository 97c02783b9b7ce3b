#include "simulator/watch/shadow.h"

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

}  // namespace opgate::simulator
