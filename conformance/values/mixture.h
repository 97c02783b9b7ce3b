// Ordinary values with a few of another kind among them.
//
// The parts are taken in blocks of four. Block b has r = the b-th 64 bits of the stream mix64(key). It holds
// a special value if it is the first block or r's top bit is set: specials[(r >> 2) % number of them], at
// position r % 4. All other parts are what uniform gives for the same key and counter. So one part in eight
// is special, a tensor of four elements has one, and many rows have none.
#pragma once

#include <vector>

#include "values/uniform.h"

namespace opgate {

/// `specials` is called as specials.operator()<T>() and gives a std::vector<T>; ordinary values only where
/// that is empty.
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
