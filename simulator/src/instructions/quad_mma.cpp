// mma.m8n8k4 of halves: the warp executes four products at once. Lanes 4 i to 4 i + 3 and 16 + 4 i to 19 + 4
// i have the matrices of product i.
#include <array>
#include <optional>

#include "instructions/fragments.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace quad_mma {

constexpr unsigned kLanes = 8;  ///< of one product
constexpr unsigned kProducts = 4;

// The lanes of a product are numbered from 0 to 7 here; the last four are those from 16 on.
template <bool a_by_columns, bool b_by_columns>
struct Layout {
  static RegisterCounts counts(const Product& product) {
    return {kLanes / elements_of_register(product.d), 2, 2, kLanes / elements_of_register(product.c)};
  }

  // Four lanes with four elements each: along k, where lanes follow each other along the other side, or the
  // other way round.
  template <class Visit>
  static void factor(bool along_k, Visit visit) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const Place place{lane, i / 2, i % 2};
        if (along_k) {
          visit(place, lane, i);
        } else {
          visit(place, lane / 4 * 4 + i, lane % 4);
        }
      }
    }
  }

  template <class Visit>
  static void a(const Product&, Visit visit) {
    factor(!a_by_columns, visit);
  }

  template <class Visit>
  static void b(const Product&, Visit visit) {
    factor(b_by_columns, [&](const Place& place, unsigned column, unsigned k) { visit(place, k, column); });
  }

  template <class Visit>
  static void c(const Product&, Type type, Visit visit) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned i = 0; i < kLanes; ++i) {
        if (type == Type::f16) {
          visit({lane, i / 2, i % 2}, lane, i);
        } else {
          visit({lane, i, 0}, lane / 4 * 4 + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1));
        }
      }
    }
  }
};

template <bool a_by_columns, bool b_by_columns>
void multiply_quads(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const Product product = Product::unpacked(lanes[0]->current().immediate);
  for (unsigned quad = 0; quad < kProducts; ++quad) {
    std::array<Thread*, kLanes> of_product{};
    for (unsigned lane = 0; lane < kLanes; ++lane)
      of_product[lane] = lanes[lane / 4 * 16 + quad * 4 + lane % 4];
    multiply_fragments<Layout<a_by_columns, b_by_columns>>(of_product.data(), kLanes, product);
  }
}

bool is_sum(Type type) { return type == Type::f16 || type == Type::f32; }

template <bool a_by_columns, bool b_by_columns>
Handler handler() {
  return &wait_for_whole_warp<&multiply_quads<a_by_columns, b_by_columns>>;
}

}  // namespace quad_mma

Handler select_quad_products(Draft& draft, const Product& product, bool a_by_columns, bool b_by_columns) {
  using namespace quad_mma;
  if (product.a != Type::f16 || product.b != Type::f16 || !is_sum(product.c) || !is_sum(product.d))
    return nullptr;
  if (!fit_registers(draft, Layout<false, false>::counts(product))) return nullptr;
  draft.instruction.immediate = product.packed();
  if (a_by_columns) return b_by_columns ? handler<true, true>() : handler<true, false>();
  return b_by_columns ? handler<false, true>() : handler<false, false>();
}

}  // namespace opgate::simulator
