// How the elements of matrices lie in the registers of a warp, and what instructions do that find them there.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "simulator/instructions/whole_warp.h"
#include "simulator/machine/block.h"
#include "simulator/machine/slots.h"
#include "simulator/numbers/element_codec.h"
#include "simulator/numbers/matrix_product.h"
#include "simulator/numbers/matrix_sums.h"
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

/// The index that each element of the registers has in a matrix that lies row by row: lane by lane, register
/// by register, beginning with the lowest bits. Elements that no layout names have the index kNoElement.
using ElementOrder = std::vector<std::uint16_t>;

template <class Visit>
ElementOrder order_of_elements(unsigned lanes, unsigned registers, Type type, unsigned columns,
                               Visit visit_all) {
  const unsigned width = elements_of_register(type);
  ElementOrder order(std::size_t{lanes} * registers * width, kNoElement);
  visit_all([&](const Place& place, unsigned row, unsigned column) {
    order[(place.lane * registers + place.reg) * width + place.part] =
        static_cast<std::uint16_t>(row * columns + column);
  });
  return order;
}

/// The registers of so many lanes that hold a matrix, beginning with an operand of the instruction.
struct Fragment {
  Thread* const* lanes;
  unsigned lane_count;
  const Instruction& in;
  std::size_t first;
  unsigned registers;
  Type type;

  // visit(register, index of its first element in the order)
  template <class Visit>
  void for_each_register(Visit visit) const {
    const Slot* const slots = (in.wide != nullptr ? in.wide : in.slots.data()) + first;
    const unsigned width = elements_of_register(type);
    std::size_t index = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      std::uint64_t* const of_lane = lanes[lane]->registers;
      for (unsigned i = 0; i < registers; ++i, index += width) visit(of_lane[slots[i]], index);
    }
  }

  /// Puts the elements into a matrix, which has one more that nobody reads.
  template <class Number>
  void gather(const ElementOrder& order, Number* matrix) const {
    if constexpr (std::is_same_v<Number, float>) {
      if (type == Type::f16 && order.size() <= kMostFactors) return gather_halves(order, matrix);
    }
    with_decoder<Number>(type, [&](const auto& decode) {
      with_width([&](auto width) {
        for_each_register([&](std::uint64_t bits, std::size_t index) {
          for (unsigned part = 0; part < width; ++part)
            matrix[order[index + part]] = decode(bits >> part * (32 / width % 32));
        });
      });
    });
  }

  template <class Number>
  void scatter(const Product& product, const ElementOrder& order, const Number* matrix) const {
    with_width([&](auto width) {
      for_each_register([&](std::uint64_t& target, std::size_t index) {
        std::uint64_t bits = 0;
        for (unsigned part = 0; part < width; ++part)
          bits |= encoded_element(product, matrix[order[index + part]]) << part * (32 / width % 32);
        target = bits;
      });
    });
  }

 private:
  // All of them are converted at once.
  void gather_halves(const ElementOrder& order, float* matrix) const {
    std::array<std::uint16_t, kMostFactors + 1> halves;
    for_each_register([&](std::uint64_t bits, std::size_t index) {
      halves[order[index]] = static_cast<std::uint16_t>(bits);
      halves[order[index + 1]] = static_cast<std::uint16_t>(bits >> 16);
    });
    widen_halves(halves.data(), order.size(), matrix);
  }

  // Calls the action with the number of elements of a register, as a constant.
  template <class Action>
  void with_width(Action action) const {
    switch (elements_of_register(type)) {
      case 1:
        return action(std::integral_constant<unsigned, 1>());
      case 2:
        return action(std::integral_constant<unsigned, 2>());
      default:
        return action(std::integral_constant<unsigned, 4>());
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
  static std::unordered_map<std::int64_t, FragmentOrders> known;
  const auto [entry, is_new] = known.try_emplace(product.packed());
  FragmentOrders& orders = entry->second;
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

template <class Layout, class Numbers>
void multiply_fragments(Thread* const* lanes, unsigned lane_count, const Product& product) {
  const RegisterCounts counts = Layout::counts(product);
  const FragmentOrders& orders = orders_of<Layout>(product, lane_count);
  const auto fragment = [&](std::size_t first, unsigned registers, Type type) {
    return Fragment{lanes, lane_count, lanes[0]->current(), first, registers, type};
  };
  Matrices<Numbers> matrices;
  const std::size_t at_b = counts.d + counts.a;
  fragment(counts.d, counts.a, product.a).gather(orders.a, matrices.a.data());
  fragment(at_b, counts.b, product.b).gather(orders.b, matrices.b.data());
  fragment(at_b + counts.b, counts.c, product.c).gather(orders.c, matrices.sums.data());
  multiply(product, matrices);
  fragment(0, counts.d, product.d).scatter(product, orders.d, matrices.sums.data());
}

/// What all threads of a warp do together, with the product in the immediate.
template <class Layout>
void multiply_in_warp(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const Product product = Product::unpacked(lanes[0]->current().immediate);
  if (product.d == Type::f64) {
    multiply_fragments<Layout, Doubles>(lanes, kWarpSize, product);
  } else if (product.d == Type::s32) {
    multiply_fragments<Layout, Integers>(lanes, kWarpSize, product);
  } else {
    multiply_fragments<Layout, Singles>(lanes, kWarpSize, product);
  }
}

}  // namespace opgate::simulator
