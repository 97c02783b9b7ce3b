// mma: products of matrices whose elements lie in registers as the manual of PTX says.
#include <array>
#include <optional>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/mma_layout.h"
#include "instructions/select.h"
#include "instructions/selectors.h"

namespace opgate::simulator {
namespace mma {

struct Shape {
  std::uint8_t m;
  std::uint8_t n;
  std::uint8_t k;
};

std::optional<Shape> take_shape(Modifiers& modifiers) {
  constexpr std::array<Shape, 6> kShapes{
      {{8, 8, 4}, {8, 8, 16}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}, {16, 8, 32}}};
  const std::optional<int> index =
      modifiers.take_one({"m8n8k4", "m8n8k16", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (!index) return std::nullopt;
  return kShapes[static_cast<std::size_t>(*index)];
}

bool is_byte_float(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

bool is_byte(Type type) { return type == Type::s8 || type == Type::u8; }

// Whether PTX has the product.
bool exists(const Product& p) {
  const bool is_wide = p.m == 16;
  const bool has_equal_types = p.a == p.b && p.c == p.d;
  if (is_byte(p.a) && is_byte(p.b))
    return p.c == Type::s32 && p.d == Type::s32 && (p.k == 16 || (is_wide && p.k == 32));
  if (is_byte_float(p.a) && is_byte_float(p.b))
    return is_wide && p.c == p.d && (p.c == Type::f32 || p.c == Type::f16) && (p.k == 16 || p.k == 32);
  if (!has_equal_types) return false;
  switch (p.a) {
    case Type::f16:
      return is_wide && (p.k == 8 || p.k == 16) && (p.c == Type::f32 || p.c == Type::f16);
    case Type::bf16:
      return is_wide && (p.k == 8 || p.k == 16) && p.c == Type::f32;
    case Type::tf32:
      return is_wide && (p.k == 4 || p.k == 8) && p.c == Type::f32;
    case Type::f64:
      return p.c == Type::f64 && (is_wide ? p.k <= 16 : p.k == 4);
    default:
      return false;
  }
}

}  // namespace mma

static Handler select_matrix_product(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("sync") || !modifiers.take("aligned")) return nullptr;
  const std::optional<mma::Shape> shape = mma::take_shape(modifiers);
  const std::optional<int> order_of_a = modifiers.take_next({"row", "col"});
  const std::optional<int> order_of_b = modifiers.take_next({"row", "col"});
  if (!shape || !order_of_a || !order_of_b) return nullptr;
  Product product{shape->m, shape->n, shape->k};
  product.d = modifiers.take_type();
  product.a = modifiers.take_type();
  product.b = modifiers.take_type();
  product.c = modifiers.take_type();
  if (shape->m == 8 && shape->k == 4 && product.a == Type::f16)
    return select_quad_products(draft, product, *order_of_a == 1, *order_of_b == 1);
  if (*order_of_a != 0 || *order_of_b != 1) return nullptr;
  product.saturates = product.d == Type::s32 && modifiers.take("satfinite");
  if (product.d == Type::f64) modifiers.take("rn");
  if (!mma::exists(product) || !fit_registers(draft, MmaLayout::counts(product))) return nullptr;
  draft.instruction.immediate = product.packed();
  return &wait_for_whole_warp<&multiply_in_warp<MmaLayout>>;
}

std::vector<OpcodeRow> opcodes_of_mma() {
  return {
      {"mma", {&select_matrix_product, 4, 12, Result::first, Waits::for_warp, &no_effect, &flow_of_product}},
  };
}

}  // namespace opgate::simulator
