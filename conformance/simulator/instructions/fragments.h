// How the elements of matrices lie in the registers of a warp, and what instructions do that find them there.
#pragma once

#include <array>

#include "simulator/instructions/whole_warp.h"
#include "simulator/machine/block.h"
#include "simulator/machine/slots.h"
#include "simulator/numbers/matrix_product.h"
#include "simulator/ptx/draft.h"

namespace opgate::simulator {

/// Where an element is: in a register of a lane, of whose elements it is the one with index `part`, counted
/// from the lowest bits.
struct Place {
  unsigned lane = 0;
  unsigned reg = 0;
  unsigned part = 0;
};

/// How many registers of a lane hold each matrix.
struct RegisterCounts {
  unsigned d = 0;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
};

/// Whether the operands d, a, b and c have so many registers.
inline bool fit_registers(const Draft& draft, const RegisterCounts& counts) {
  const std::array<unsigned, 4> expected{counts.d, counts.a, counts.b, counts.c};
  if (draft.operands.size() != expected.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (draft.operands[i].slots.size() != expected[i]) return false;
  }
  return true;
}

inline std::uint64_t bits_at(Thread* const* lanes, const Place& place, unsigned first, Type type) {
  const Thread& thread = *lanes[place.lane];
  return thread.registers[thread.current().slot(first + place.reg)] >> place.part * bits_of_element(type);
}

/// Elements of one register are put one after the other, beginning with the first part.
inline void put_bits(Thread* const* lanes, const Place& place, Type type, std::uint64_t bits) {
  Thread& thread = *lanes[place.lane];
  std::uint64_t& target = thread.registers[thread.current().slot(place.reg)];
  target = (place.part == 0 ? 0 : target) | bits << place.part * bits_of_element(type);
}

/// `Layout` visits the elements of each matrix: `Layout::a(product, visit)` calls `visit(place, row,
/// column)`, and `b` and `c` do so as well; `c` needs the type, because `c` and `d` may differ in it.
template <class Layout, class Numbers>
void multiply_fragments(Thread* const* lanes, const Product& product) {
  using Factor = typename Numbers::Factor;
  using Sum = typename Numbers::Sum;
  const RegisterCounts counts = Layout::counts(product);
  Matrices<Numbers> matrices{};
  Layout::a(product, [&](const Place& place, unsigned row, unsigned column) {
    matrices.a[row * product.k + column] =
        decoded_element<Factor>(product.a, bits_at(lanes, place, counts.d, product.a));
  });
  Layout::b(product, [&](const Place& place, unsigned row, unsigned column) {
    matrices.b[row * product.n + column] =
        decoded_element<Factor>(product.b, bits_at(lanes, place, counts.d + counts.a, product.b));
  });
  Layout::c(product, product.c, [&](const Place& place, unsigned row, unsigned column) {
    matrices.sums[row * product.n + column] =
        decoded_element<Sum>(product.c, bits_at(lanes, place, counts.d + counts.a + counts.b, product.c));
  });
  multiply(product, matrices);
  Layout::c(product, product.d, [&](const Place& place, unsigned row, unsigned column) {
    put_bits(lanes, place, product.d, encoded_element(product, matrices.sums[row * product.n + column]));
  });
}

/// What all threads of a warp do together, with the product in the immediate.
template <class Layout>
void multiply_in_warp(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const Product product = Product::unpacked(lanes[0]->current().immediate);
  if (product.d == Type::f64) {
    multiply_fragments<Layout, Doubles>(lanes, product);
  } else if (product.d == Type::s32) {
    multiply_fragments<Layout, Integers>(lanes, product);
  } else {
    multiply_fragments<Layout, Singles>(lanes, product);
  }
}

}  // namespace opgate::simulator
