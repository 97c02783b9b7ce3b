// How the elements of matrices lie in the registers of a warp, and what instructions do that find them there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instructions/collectives.h"
#include "machine/block.h"
#include "machine/slots.h"
#include "numbers/matrix_product.h"
#include "ptx/draft.h"

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

/// Where the elements of registers lie in a matrix that lies row by row: lane by lane, register by register,
/// beginning with the lowest bits. What no layout names lies at kNowhere.
struct ElementOrder {
  std::vector<std::uint16_t> places;  ///< in bytes, of each piece
  unsigned piece = 0;  ///< bytes that lie side by side: those of an element, or of a whole register
  /// Whether registers of four bytes lie side by side two by two, as those of sums do.
  bool in_pairs = false;
};

inline bool lie_in_pairs(const std::vector<std::uint16_t>& places, unsigned registers) {
  if (registers % 2 != 0) return false;
  for (std::size_t i = 0; i < places.size(); i += 2) {
    if (places[i] == kNowhere || places[i + 1] != places[i] + sizeof(std::uint32_t)) return false;
  }
  return true;
}

template <class Visit>
ElementOrder order_of_elements(unsigned lanes, unsigned registers, Type type, unsigned columns,
                               Visit visit_all) {
  const unsigned width = elements_of_register(type);
  const unsigned bytes = bits_of_element(type) / 8;
  ElementOrder order{std::vector<std::uint16_t>(std::size_t{lanes} * registers * width, kNowhere), bytes};
  visit_all([&](const Place& place, unsigned row, unsigned column) {
    order.places[(place.lane * registers + place.reg) * width + place.part] =
        static_cast<std::uint16_t>((row * columns + column) * bytes);
  });
  std::vector<std::uint16_t> of_registers;
  for (std::size_t i = 0; i < order.places.size(); i += width) {
    for (unsigned part = 1; part < width; ++part) {
      const unsigned next = order.places[i] == kNowhere ? kNowhere : order.places[i] + part * bytes;
      if (order.places[i + part] != next) return order;
    }
    of_registers.push_back(order.places[i]);
  }
  const unsigned piece = bytes * width;
  const bool in_pairs = piece == sizeof(std::uint32_t) && lie_in_pairs(of_registers, registers);
  return {std::move(of_registers), piece, in_pairs};
}

/// The registers of so many lanes that hold a matrix, beginning with an operand of the instruction.
struct Fragment {
  Thread* const* lanes;
  unsigned lane_count;
  const Instruction& in;
  std::size_t first;
  unsigned registers;

  void gather(const ElementOrder& order, unsigned char* elements) const {
    if (moves_pairs(order)) {
      for_each_pair(order, [elements](const std::uint64_t* bits, const std::uint16_t* place) {
        Words words;
        std::memcpy(&words, bits, sizeof(words));
        const auto both = reinterpret_cast<Pair>(__builtin_shufflevector(words, words, 0, 2, 0, 2))[0];
        std::memcpy(elements + *place, &both, sizeof(both));
      });
      return;
    }
    for_each_register(order, [elements](const std::uint64_t& bits, const std::uint16_t* places, auto piece) {
      constexpr unsigned kBits = sizeof(piece) * 8;
      for (unsigned shift = 0; shift < std::max(32u, kBits); shift += kBits) {
        piece = static_cast<decltype(piece)>(bits >> shift);
        std::memcpy(elements + *places++, &piece, sizeof(piece));
      }
    });
  }

  void scatter(const ElementOrder& order, const unsigned char* elements) const {
    if (moves_pairs(order)) {
      for_each_pair(order, [elements](std::uint64_t* bits, const std::uint16_t* place) {
        std::uint64_t both = 0;
        std::memcpy(&both, elements + *place, sizeof(both));
        const auto words = __builtin_shufflevector(reinterpret_cast<Words>(Pair{both}), Words{}, 0, 4, 1, 5);
        std::memcpy(bits, &words, sizeof(words));
      });
      return;
    }
    for_each_register(order, [elements](std::uint64_t& bits, const std::uint16_t* places, auto piece) {
      constexpr unsigned kBits = sizeof(piece) * 8;
      std::uint64_t all = 0;
      for (unsigned shift = 0; shift < std::max(32u, kBits); shift += kBits) {
        std::memcpy(&piece, elements + *places++, sizeof(piece));
        all |= std::uint64_t{piece} << shift;
      }
      bits = all;
    });
  }

 private:
  using Pair = std::uint64_t __attribute__((vector_size(2 * sizeof(std::uint64_t))));
  using Words = std::uint32_t __attribute__((vector_size(sizeof(Pair))));

  const Slot* slots() const { return (in.wide != nullptr ? in.wide : in.slots.data()) + first; }

  // Whether those that lie side by side in the matrix do so in each lane as well, as compilers name them.
  bool moves_pairs(const ElementOrder& order) const {
    if (!order.in_pairs) return false;
    const Slot* const of_operand = slots();
    for (unsigned i = 0; i < registers; i += 2) {
      if (of_operand[i + 1] != of_operand[i] + 1) return false;
    }
    return true;
  }

  // visit(the first of two registers, the places of their bytes)
  template <class Visit>
  void for_each_pair(const ElementOrder& order, Visit visit) const {
    return registers == 4 ? visit_lanes<4, 2, 2>(order, visit) : visit_lanes<0, 2, 2>(order, visit);
  }

  // visit(register, places of its pieces, a number with the bits of a piece)
  template <class Visit>
  void for_each_register(const ElementOrder& order, Visit visit) const {
    switch (order.piece) {
      case 1:
        return visit_pieces<std::uint8_t>(order, visit);
      case 2:
        return visit_pieces<std::uint16_t>(order, visit);
      case 4:
        return visit_pieces<std::uint32_t>(order, visit);
      default:
        return visit_pieces<std::uint64_t>(order, visit);
    }
  }

  // The number of registers is a constant for common ones.
  template <class Piece, class Visit>
  void visit_pieces(const ElementOrder& order, Visit visit) const {
    constexpr std::size_t kPieces = std::max<std::size_t>(4 / sizeof(Piece), 1);
    const auto visit_all = [visit](std::uint64_t* bits, const std::uint16_t* places) {
      visit(*bits, places, Piece{});
    };
    switch (registers) {
      case 1:
        return visit_lanes<1, 1, kPieces>(order, visit_all);
      case 2:
        return visit_lanes<2, 1, kPieces>(order, visit_all);
      case 4:
        return visit_lanes<4, 1, kPieces>(order, visit_all);
      default:
        return visit_lanes<0, 1, kPieces>(order, visit_all);
    }
  }

  // Visits one of so many registers of each lane, each time with the next of the places. 0: their number is
  // no constant.
  template <unsigned constant, unsigned step, std::size_t places_of_step, class Visit>
  void visit_lanes(const ElementOrder& order, Visit visit) const {
    const Slot* const of_operand = slots();
    const unsigned count = constant == 0 ? registers : constant;
    std::array<Slot, std::max(constant, 1u)> known;
    if constexpr (constant != 0) std::copy_n(of_operand, constant, known.begin());
    const std::uint16_t* places = order.places.data();
    Thread* const* const end = lanes + lane_count;
    for (Thread* const* lane = lanes; lane < end; ++lane) {
      std::uint64_t* const of_lane = (*lane)->registers;
#pragma GCC unroll 4
      for (unsigned i = 0; i < count; i += step, places += places_of_step)
        visit(of_lane + (constant == 0 ? of_operand[i] : known[i]), places);
    }
  }
};

/// The orders of the matrices of a product.
struct FragmentOrders {
  ElementOrder a;
  ElementOrder b;
  ElementOrder c;
  ElementOrder d;
};

/// `Layout` visits the elements of each matrix: `Layout::a(product, visit)` calls `visit(place, row,
/// column)`, and `b` and `c` do so as well; `c` needs the type, because `c` and `d` may differ in it.
template <class Layout>
const FragmentOrders& orders_of(const Product& product, unsigned lanes) {
  // Most products are of the same kind as the one before.
  thread_local std::int64_t last = 0;
  thread_local const FragmentOrders* of_last = nullptr;
  if (of_last != nullptr && last == product.packed()) return *of_last;
  // Never destroyed: kernels may run while the process ends.
  thread_local auto* const known = new std::unordered_map<std::int64_t, FragmentOrders>;
  const auto [entry, is_new] = known->try_emplace(product.packed());
  FragmentOrders& orders = entry->second;
  last = product.packed();
  of_last = &orders;
  if (!is_new) return orders;
  const RegisterCounts counts = Layout::counts(product);
  const auto of_sums = [&](Type type, unsigned registers) {
    return order_of_elements(lanes, registers, type, product.n,
                             [&](auto visit) { Layout::c(product, type, visit); });
  };
  orders.a = order_of_elements(lanes, counts.a, product.a, product.k,
                               [&](auto visit) { Layout::a(product, visit); });
  orders.b = order_of_elements(lanes, counts.b, product.b, product.n,
                               [&](auto visit) { Layout::b(product, visit); });
  orders.c = of_sums(product.c, counts.c);
  orders.d = of_sums(product.d, counts.d);
  return orders;
}

template <class Layout>
void multiply_fragments(Thread* const* lanes, unsigned lane_count, const Product& product) {
  const RegisterCounts counts = Layout::counts(product);
  const FragmentOrders& orders = orders_of<Layout>(product, lane_count);
  const auto fragment = [&](std::size_t first, unsigned registers) {
    return Fragment{lanes, lane_count, lanes[0]->current(), first, registers};
  };
  Matrices matrices;
  const std::size_t at_b = counts.d + counts.a;
  fragment(counts.d, counts.a).gather(orders.a, matrices.a.data());
  fragment(at_b, counts.b).gather(orders.b, matrices.b.data());
  fragment(at_b + counts.b, counts.c).gather(orders.c, matrices.sums.data());
  multiply(product, matrices);
  fragment(0, counts.d).scatter(orders.d, matrices.sums.data());
}

/// What all threads of a warp do together, with the product in the immediate.
template <class Layout>
void multiply_in_warp(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  multiply_fragments<Layout>(lanes, kWarpSize, Product::unpacked(lanes[0]->current().immediate));
}

}  // namespace opgate::simulator
