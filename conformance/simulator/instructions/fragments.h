// How the elements of matrices lie in the registers of a warp, and what instructions do that find them there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// Where the elements of registers lie in a matrix that lies row by row: lane by lane, register by register,
/// beginning with the lowest bits. What no layout names lies at kNowhere.
struct ElementOrder {
  std::vector<std::uint16_t> places;  ///< in bytes, of each piece
  unsigned piece = 0;  ///< bytes that lie side by side: those of an element, or of a whole register
};

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
  return {std::move(of_registers), bytes * width};
}

/// The registers of so many lanes that hold a matrix, beginning with an operand of the instruction.
struct Fragment {
  Thread* const* lanes;
  unsigned lane_count;
  const Instruction& in;
  std::size_t first;
  unsigned registers;

  void gather(const ElementOrder& order, unsigned char* elements) const {
    for_each_register(order, [elements](const std::uint64_t& bits, const std::uint16_t* places, auto piece) {
      constexpr unsigned kBits = sizeof(piece) * 8;
      for (unsigned shift = 0; shift < std::max(32u, kBits); shift += kBits) {
        piece = static_cast<decltype(piece)>(bits >> shift);
        std::memcpy(elements + *places++, &piece, sizeof(piece));
      }
    });
  }

  void scatter(const ElementOrder& order, const unsigned char* elements) const {
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
    switch (registers) {
      case 1:
        return visit_lanes<Piece, 1>(order, visit);
      case 2:
        return visit_lanes<Piece, 2>(order, visit);
      case 4:
        return visit_lanes<Piece, 4>(order, visit);
      default:
        return visit_lanes<Piece, 0>(order, visit);
    }
  }

  template <class Piece, unsigned constant, class Visit>
  void visit_lanes(const ElementOrder& order, Visit visit) const {
    constexpr std::size_t kPieces = std::max<std::size_t>(4 / sizeof(Piece), 1);
    const Slot* const slots = (in.wide != nullptr ? in.wide : in.slots.data()) + first;
    const unsigned count = constant == 0 ? registers : constant;
    std::array<Slot, std::max(constant, 1u)> known;
    if constexpr (constant != 0) std::copy_n(slots, constant, known.begin());
    const std::uint16_t* places = order.places.data();
    Thread* const* const end = lanes + lane_count;
    for (Thread* const* lane = lanes; lane < end; ++lane) {
      std::uint64_t* const of_lane = (*lane)->registers;
#pragma GCC unroll 4
      for (unsigned i = 0; i < count; ++i, places += kPieces)
        visit(of_lane[constant == 0 ? slots[i] : known[i]], places, Piece{});
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
  static std::int64_t last = 0;
  static const FragmentOrders* of_last = nullptr;
  if (of_last != nullptr && last == product.packed()) return *of_last;
  static std::unordered_map<std::int64_t, FragmentOrders> known;
  const auto [entry, is_new] = known.try_emplace(product.packed());
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
