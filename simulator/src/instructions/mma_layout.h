// How the elements of matrices lie in the registers of a warp, as `mma` has them, and `wgmma` for each of its
// warps.
#pragma once

#include "instructions/fragments.h"

namespace opgate::simulator {

/// Four lanes share a row of `a` and `c`, or a column of `b`. Each holds the elements of one register side by
/// side, along k or, of `c`, along n. A lane's registers of `a` go down in steps of eight rows first, and
/// then along k.
struct MmaLayout {
  static RegisterCounts counts(const Product& product) {
    const auto of = [](unsigned elements, Type type) { return elements / 32 / elements_of_register(type); };
    const unsigned sums = product.m * product.n;
    return {of(sums, product.d), of(product.m * product.k, product.a), of(product.k * product.n, product.b),
            of(sums, product.c)};
  }

  template <class Visit>
  static void a(const Product& product, Visit visit) {
    const unsigned width = elements_of_register(product.a);
    const unsigned rows = product.m / 8;
    const unsigned count = counts(product).a;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (unsigned reg = 0; reg < count; ++reg) {
        for (unsigned part = 0; part < width; ++part)
          visit({lane, reg, part}, lane / 4 + reg % rows * 8, (reg / rows * 4 + lane % 4) * width + part);
      }
    }
  }

  template <class Visit>
  static void b(const Product& product, Visit visit) {
    const unsigned width = elements_of_register(product.b);
    const unsigned count = counts(product).b;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (unsigned reg = 0; reg < count; ++reg) {
        for (unsigned part = 0; part < width; ++part)
          visit({lane, reg, part}, (reg * 4 + lane % 4) * width + part, lane / 4);
      }
    }
  }

  template <class Visit>
  static void c(const Product& product, Type type, Visit visit) {
    const unsigned width = elements_of_register(type);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (unsigned i = 0; i < product.m / 4; ++i)
        visit({lane, i / width, i % width}, lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
    }
  }
};

}  // namespace opgate::simulator
