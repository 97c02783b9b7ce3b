// wmma: products of matrices whose elements lie in registers as the device likes. PTX leaves open where; here
// the lanes share the elements row by row, each with as many neighbours as the matrix has for it. Where a
// lane has more registers than it needs, as for `a` and `b` of halves, they hold its elements once more.
#include "instructions/wmma.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/fragments.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace wmma {

// Registers of a lane for a matrix of so many elements.
unsigned registers_of(unsigned elements, Type type, bool is_factor) {
  if (is_factor && type == Type::f16) return 8;
  return elements / kWarpSize / elements_of_register(type);
}

struct Layout {
  static RegisterCounts counts(const Product& product) {
    const unsigned sums = product.m * product.n;
    return {registers_of(sums, product.d, false), registers_of(product.m * product.k, product.a, true),
            registers_of(product.k * product.n, product.b, true), registers_of(sums, product.c, false)};
  }

  template <class Visit>
  static void all(unsigned rows, unsigned columns, Type type, Visit visit) {
    const unsigned of_lane = rows * columns / kWarpSize;
    const unsigned width = elements_of_register(type);
    for (unsigned i = 0; i < rows * columns; ++i) {
      const unsigned index = i % of_lane;
      visit({i / of_lane, index / width, index % width}, i / columns, i % columns);
    }
  }

  template <class Visit>
  static void a(const Product& product, Visit visit) {
    all(product.m, product.k, product.a, visit);
  }
  template <class Visit>
  static void b(const Product& product, Visit visit) {
    all(product.k, product.n, product.b, visit);
  }
  template <class Visit>
  static void c(const Product& product, Type type, Visit visit) {
    all(product.m, product.n, type, visit);
  }
};

// A matrix in memory: what a load or a store needs to know. It fits into the immediate.
struct Matrix {
  std::uint8_t rows = 0;
  std::uint8_t columns = 0;
  Type type = Type::none;
  bool is_by_columns = false;
  bool has_stride = false;
  std::uint8_t registers = 0;
  std::uint16_t unused = 0;
};

// Slots of an instruction that moves a matrix: its registers, the address and its offset, and the stride. A
// store begins with the address.
struct Slots {
  unsigned registers;
  unsigned address;
  unsigned stride;
};

std::uint64_t slot_bits(const Thread& thread, unsigned operand) {
  return thread.registers[thread.current().slot(operand)];
}

// The manual of PTX wants each row or column to begin at a multiple of the bytes that a lane has of the
// matrix, that of CUDA only at a multiple of 16 bytes. What both forbid is a fault.
void check_alignment(const Instruction& in, const Matrix& matrix, std::uint64_t base, std::uint64_t stride) {
  const unsigned of_lane = matrix.registers * (matrix.type == Type::f64 ? 8u : 4u);
  if (base % of_lane != 0) report_misaligned(in, base, of_lane);
  const unsigned of_line = std::min(of_lane, 16u);
  if (stride * bits_of_element(matrix.type) / 8 % of_line == 0) return;
  fail(in, Fault::misaligned_address,
       " with a stride of " + std::to_string(stride) + " elements, which is not a multiple of " +
           std::to_string(of_line) + " bytes");
}

Slots slots_of(const Matrix& matrix, bool is_load) {
  const unsigned registers = matrix.registers;
  return is_load ? Slots{0, registers, registers + 2} : Slots{2, 0, 2 + registers};
}

unsigned elements_of_lane(const Matrix& matrix) { return unsigned{matrix.rows} * matrix.columns / kWarpSize; }

// For the elements of the thread's lane.
template <class Visit>
void for_each_address(const Thread& thread, const Matrix& matrix, const Slots& slots, Visit visit) {
  const std::uint64_t base = slot_bits(thread, slots.address) + slot_bits(thread, slots.address + 1);
  const std::uint64_t by_default = matrix.is_by_columns ? matrix.rows : matrix.columns;
  const std::uint64_t stride = matrix.has_stride ? slot_bits(thread, slots.stride) & 0xffffffffu : by_default;
  check_alignment(thread.current(), matrix, base, stride);
  const unsigned bytes = bits_of_element(matrix.type) / 8;
  const unsigned count = elements_of_lane(matrix);
  const unsigned begin = thread.lane * count;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t row = (begin + i) / matrix.columns;
    const std::uint64_t column = (begin + i) % matrix.columns;
    const std::uint64_t index = matrix.is_by_columns ? column * stride + row : row * stride + column;
    visit(i, base + index * bytes, bytes);
  }
}

template <Space space, Access access, class Move>
void for_each_element(Thread& thread, const Matrix& matrix, const Slots& slots, Move move) {
  for_each_address(thread, matrix, slots, [&](unsigned i, std::uint64_t address, unsigned bytes) {
    move(i, locate<space, access>(thread, thread.current(), address, bytes), bytes);
  });
}

template <Space space>
void load(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const auto matrix = std::bit_cast<Matrix>(lanes[0]->current().immediate);
  const unsigned registers = matrix.registers;
  const unsigned width = elements_of_register(matrix.type);
  const unsigned of_lane = elements_of_lane(matrix);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    Thread& thread = *lanes[lane];
    thread.block->running_thread(thread.linear);
    std::array<std::uint64_t, kMostFactors / kWarpSize> elements{};
    for_each_element<space, Access::load>(thread, matrix, slots_of(matrix, true),
                                          [&](unsigned i, const unsigned char* from, unsigned bytes) {
                                            std::memcpy(&elements[i], from, bytes);
                                          });
    for (unsigned i = 0; i < registers * width; ++i)
      put_bits(lanes, {lane, i / width, i % width}, matrix.type, elements[i % of_lane]);
  }
}

template <Space space>
void store(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const auto matrix = std::bit_cast<Matrix>(lanes[0]->current().immediate);
  const unsigned width = elements_of_register(matrix.type);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    Thread& thread = *lanes[lane];
    thread.block->running_thread(thread.linear);
    for_each_element<space, Access::store>(
        thread, matrix, slots_of(matrix, false), [&](unsigned i, unsigned char* to, unsigned bytes) {
          const std::uint64_t bits = bits_at(lanes, {lane, i / width, i % width}, 2, matrix.type);
          std::memcpy(to, &bits, bytes);
        });
  }
}

std::optional<Product> take_shape(Modifiers& modifiers) {
  constexpr std::array<Product, 5> kShapes{{{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8}, {8, 8, 4}}};
  const std::optional<int> index =
      modifiers.take_one({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"});
  if (!index) return std::nullopt;
  return kShapes[static_cast<std::size_t>(*index)];
}

// Whether `a` and `b` may be of this type in the shape.
bool has_factors(const Product& shape, Type type) {
  if (type == Type::tf32) return shape.k == 8;
  if (type == Type::f64) return shape.k == 4;
  return shape.k == 16 && (type == Type::f16 || type == Type::bf16 || type == Type::s8 || type == Type::u8);
}

bool has_sums(const Product& shape, Type type) {
  if (shape.k == 4) return type == Type::f64;
  if (shape.k == 8) return type == Type::f32;
  return type == Type::f16 || type == Type::f32 || type == Type::s32;
}

// What follows `wmma.load` and `wmma.store`.
Handler select_transfer(Draft& draft, bool is_load) {
  Modifiers& modifiers = draft.modifiers;
  const std::optional<int> which = is_load ? modifiers.take_one({"a", "b", "c"}) : modifiers.take_one({"d"});
  const std::optional<int> order = modifiers.take_one({"row", "col"});
  const std::optional<Product> shape = take_shape(modifiers);
  const Space space = modifiers.take_space();
  const Type type = modifiers.take_type();
  if (!which || !order || !shape) return nullptr;
  const bool is_factor = is_load && *which < 2;
  if (!(is_factor ? has_factors(*shape, type) : has_sums(*shape, type))) return nullptr;
  Matrix matrix;
  matrix.rows = is_load && *which == 1 ? shape->k : shape->m;
  matrix.columns = is_load && *which == 0 ? shape->k : shape->n;
  matrix.type = type;
  matrix.is_by_columns = *order == 1;
  matrix.has_stride = draft.operands.size() == 3;
  matrix.registers =
      static_cast<std::uint8_t>(registers_of(unsigned{matrix.rows} * matrix.columns, type, is_factor));
  const std::size_t address = is_load ? 1 : 0;
  if (draft.operands.size() > 3 || !draft.is(address, Operand::Kind::address) ||
      draft.operands[1 - address].slots.size() != matrix.registers)
    return nullptr;
  draft.keeps_immediate = true;
  draft.instruction.immediate = std::bit_cast<std::int64_t>(matrix);
  return for_value<Space::global, Space::shared, Space::generic>(space, [&]<Space in>() {
    return is_load ? &wait_for_whole_warp<&load<in>> : &wait_for_whole_warp<&store<in>>;
  });
}

Handler select_product(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const std::optional<Product> shape = take_shape(modifiers);
  if (!shape || !modifiers.take_one({"row", "col"}) || !modifiers.take_one({"row", "col"})) return nullptr;
  Product product = *shape;
  product.d = modifiers.take_type();
  product.c = modifiers.take_type();
  product.a = product.b = Type::f16;
  // Products of halves name only the types of `d` and `c`, the others all four.
  if (const Type third = modifiers.take_type(); third != Type::none) {
    product.a = product.c;
    product.b = third;
    product.c = modifiers.take_type();
  }
  const bool is_of_integers = product.a == Type::s8 || product.a == Type::u8;
  product.saturates = is_of_integers && modifiers.take("satfinite");
  if (product.a == Type::f64) modifiers.take("rn");
  if (product.a != product.b || !has_factors(product, product.a)) return nullptr;
  const auto is_sum = [&](Type type) {
    if (is_of_integers) return type == Type::s32;
    if (product.a == Type::f64) return type == Type::f64;
    return type == Type::f32 || (type == Type::f16 && product.a == Type::f16);
  };
  if (!is_sum(product.c) || !is_sum(product.d)) return nullptr;
  if (!fit_registers(draft, Layout::counts(product))) return nullptr;
  draft.instruction.immediate = product.packed();
  return &wait_for_whole_warp<&multiply_in_warp<Layout>>;
}

}  // namespace wmma

void for_each_element_of_wmma(
    const Thread& thread, bool is_load,
    const std::function<void(unsigned number, std::uint64_t address, unsigned bytes)>& visit) {
  const auto matrix = std::bit_cast<wmma::Matrix>(thread.current().immediate);
  wmma::for_each_address(thread, matrix, wmma::slots_of(matrix, is_load), visit);
}

static Handler select_warp_matrix(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("sync") || !modifiers.take("aligned")) return nullptr;
  if (modifiers.take("mma")) return wmma::select_product(draft);
  if (modifiers.take("load")) return wmma::select_transfer(draft, true);
  return modifiers.take("store") ? wmma::select_transfer(draft, false) : nullptr;
}

static Effect effect_of_fragment(const Modifiers& given) {
  Modifiers words = given;
  const bool loads = words.has("load");
  if (!loads && !words.has("store")) return {};
  return {.kind = loads ? Effect::Kind::load : Effect::Kind::store,
          .space = words.take_space(),
          .lanes = 0,
          .is_fragment = true};
}

std::vector<OpcodeRow> opcodes_of_wmma() {
  return {
      {"wmma",
       {&select_warp_matrix, 2, 5, Result::unless_stored, Waits::for_warp, &effect_of_fragment,
        &flow_of_product}},
  };
}

}  // namespace opgate::simulator
