// Ordinary values with a few special values among them.
//
// The parts (parts.h) are taken in blocks of four. For block b, r is the b-th 64 bits of the stream
// mix64(key). The block holds a special value if it is the first block or if r's top bit is set:
// specials[(r >> 2) % specials.size()], at position r % 4. All other parts are what uniform gives for the
// same key and counter. So about one part in eight is special, a tensor of four elements has one, and many
// rows have none.
#pragma once

#include <vector>

#include "values/uniform.h"

namespace opgate {

/// Fills `out`. specials.operator()<T>() must return the special values as a std::vector<T>; if it is
/// empty, all values are ordinary.
template <class Specials>
void fill_mixture(uint64_t key, const at::Tensor& out, Specials specials) {
  visit_parts(out, [&]<class T>(T* parts, uint64_t count) {
    const Uniform<T> ordinary;
    for (uint64_t i = 0; i < count; ++i) parts[i] = ordinary.at(key, i);
    const std::vector<T> others = specials.template operator()<T>();
    if (others.empty()) return;
    for (uint64_t block = 0; 4 * block < count; ++block) {
      const uint64_t bits = bits_at(mix64(key), block);
      const uint64_t at = 4 * block + bits % 4;
      if (at < count && (block == 0 || (bits >> 63) != 0)) parts[at] = others[(bits >> 2) % others.size()];
    }
  });
}

}  // namespace opgate
