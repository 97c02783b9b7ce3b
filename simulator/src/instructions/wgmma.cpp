// wgmma: products of matrices that the four warps of a group begin and wait for later. Each warp has 16 of
// the 64 rows of `a` and of the sums, and all columns, so that warps need not meet.
#include "instructions/wgmma.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/matrix_descriptor.h"
#include "instructions/mma_layout.h"
#include "instructions/moves_of_sums.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"
#include "numbers/matrix_sums.h"

namespace opgate::simulator {
namespace wgmma {

constexpr unsigned kRows = 16;    // of a warp
constexpr unsigned kColumns = 8;  // computed at a time
constexpr unsigned kMostColumns = 256;
constexpr unsigned kWarpsOfGroup = 4;
constexpr unsigned kFragment = 4;  // registers of `a` of a lane

// What the immediate of `mma_async` holds.
struct Shape {
  std::uint8_t tiles = 0;  // of eight columns
  std::uint8_t k = 0;
  Type d = Type::none;
  Type a = Type::none;
  Type b = Type::none;
  bool a_in_registers = false;
  bool has_transposes = false;
  bool saturates = false;

  static Shape of(const Instruction& in) { return std::bit_cast<Shape>(in.immediate); }

  bool is_of_integers() const { return d == Type::s32; }
  unsigned registers_of_tile() const { return d == Type::f16 ? 2 : 4; }

  // The operands, one after the other: d, a, b, whether sums are added to, the signs of a and b, and their
  // orders.
  std::size_t at_a() const { return std::size_t{tiles} * registers_of_tile(); }
  std::size_t at_b() const { return at_a() + (a_in_registers ? kFragment : 1); }
  std::size_t at_adds() const { return at_b() + 1; }
  std::size_t at_signs() const { return at_b() + 2; }
  std::size_t at_orders() const { return at_b() + 4; }

  Product product_of_tile() const {
    Product product{kRows, kColumns, k, d, a, b, d};
    product.saturates = saturates;
    return product;
  }
};
static_assert(sizeof(Shape) == sizeof(std::int64_t));

// How a factor lies in shared memory.
struct Factor {
  MatrixDescriptor descriptor;
  Type type;
  unsigned first;  // row of `a`, or column of `b`
  unsigned count;
  unsigned k;
  bool along_k;

  unsigned elements_of_unit() const { return kMatrixUnit * 8 / bits_of_element(type); }

  // visit(address of a unit, number along, index across)
  template <class Visit>
  void for_each_unit(Visit visit) const {
    const unsigned width = elements_of_unit();
    const unsigned along = (along_k ? k : count) / width;
    const unsigned across = along_k ? count : k;
    for (unsigned i = 0; i < across; ++i) {
      for (unsigned unit = 0; unit < along; ++unit) {
        const unsigned from = along_k ? unit : first / width + unit;
        visit(descriptor.unit(from, along_k ? first + i : i, along_k), unit, i);
      }
    }
  }

  // Elements side by side along k are `k_step` bytes apart, and those across `side_step`.
  void read(const unsigned char* shared, unsigned char* elements, unsigned side_step, unsigned k_step) const {
    switch (bits_of_element(type)) {
      case 8:
        return read_pieces<std::uint8_t>(shared, elements, side_step, k_step);
      case 16:
        return read_pieces<std::uint16_t>(shared, elements, side_step, k_step);
      default:
        return read_pieces<std::uint32_t>(shared, elements, side_step, k_step);
    }
  }

 private:
  template <class Element>
  void read_pieces(const unsigned char* shared, unsigned char* elements, unsigned side_step,
                   unsigned k_step) const {
    constexpr unsigned kWidth = kMatrixUnit / sizeof(Element);
    const std::size_t step_along = along_k ? k_step : side_step;
    const std::size_t step_across = along_k ? side_step : k_step;
    for_each_unit([&](std::uint32_t address, unsigned unit, unsigned across) {
      unsigned char* to = elements + across * step_across + unit * kWidth * step_along;
      if (step_along == sizeof(Element)) {
        std::memcpy(to, shared + address, kMatrixUnit);
        return;
      }
      std::array<Element, kWidth> of_unit;
      std::memcpy(of_unit.data(), shared + address, kMatrixUnit);
      for (const Element element : of_unit) {
        std::memcpy(to, &element, sizeof(element));
        to += step_along;
      }
    });
  }
};

std::uint64_t value_at(const Thread& thread, const Instruction& in, std::size_t operand) {
  return thread.registers[in.slot(operand)];
}

bool is_set(const Thread& thread, const Instruction& in, std::size_t operand) {
  return (value_at(thread, in, operand) & 1) != 0;
}

Factor factor_a(const Thread& thread, const Instruction& in, std::uint64_t descriptor) {
  const Shape shape = Shape::of(in);
  const unsigned warp = thread.linear / kWarpSize % kWarpsOfGroup;
  const bool by_columns = shape.has_transposes && is_set(thread, in, shape.at_orders());
  return {MatrixDescriptor(descriptor), shape.a, warp * kRows, kRows, shape.k, !by_columns};
}

Factor factor_b(const Thread& thread, const Instruction& in, std::uint64_t descriptor) {
  const Shape shape = Shape::of(in);
  const std::size_t order = shape.at_orders() + (shape.a_in_registers ? 0 : 1);
  const bool by_rows = shape.has_transposes && is_set(thread, in, order);
  return {MatrixDescriptor(descriptor), shape.b, 0, shape.tiles * kColumns, shape.k, !by_rows};
}

void begin(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  Thread& first = *lanes[0];
  const Instruction& in = first.current();
  const unsigned group_end = (first.linear / kWarpSize / kWarpsOfGroup + 1) * kWarpsOfGroup * kWarpSize;
  if (first.block->launch().block.count() < group_end)
    fail(in, Fault::trap, " by less than the 128 threads of four warps");
  const Shape shape = Shape::of(in);
  BegunProduct product;
  product.instruction = &in;
  product.function = &first.function();
  product.adds = is_set(first, in, shape.at_adds());
  product.b = value_at(first, in, shape.at_b());
  if (shape.a_in_registers) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (unsigned i = 0; i < kFragment; ++i)
        product.fragments.push_back(value_at(*lanes[lane], in, shape.at_a() + i));
    }
  } else {
    product.a = value_at(first, in, shape.at_a());
  }
  for (const UnitOfProduct& unit : units_of_product(first, in))
    locate<Space::shared, Access::load>(first, in, unit.address, kMatrixUnit);
  const auto sums = static_cast<std::ptrdiff_t>(shape.at_a());
  std::vector<Slot> registers = registers_of_product(in);
  registers.erase(registers.begin() + sums, registers.end());
  first.block->products_of(first).begin(std::move(product), registers);
}

// Numbers are floats, or integers of 32 bits.
template <class Number>
class Computation {
 public:
  Computation(Thread* const* lanes, const BegunProduct& begun)
      : lanes_(lanes),
        begun_(begun),
        in_(*begun.instruction),
        shape_(Shape::of(in_)),
        product_(shape_.product_of_tile()),
        columns_(shape_.tiles * kColumns),
        b_(std::size_t{shape_.k} * columns_),
        sums_(std::size_t{kRows} * columns_),
        elements_(std::max(b_.size(), sums_.size()) * sizeof(Number)) {}

  void perform() {
    read_a();
    read_b();
    if (begun_.adds) read_sums();
    if constexpr (std::is_same_v<Number, float>) {
      ColumnsOfProduct(Multiplier::of_warpgroup, product_, b_.data(), columns_)
          .multiply(a_.data(), sums_.data());
      narrow_elements(shape_.d, sums_.data(), sums_.size(), elements_.data());
    } else {
      add_products_of_integers(product_, a_.data(), b_.data(), columns_, sums_.data());
      std::memcpy(elements_.data(), sums_.data(), sums_.size() * sizeof(Number));
    }
    sums().scatter(order_of_sums(), elements_.data());
  }

 private:
  void read_a() {
    const unsigned bytes = bits_of_element(shape_.a) / 8;
    if (shape_.a_in_registers) {
      MmaLayout::a(product_, [&](const Place& place, unsigned row, unsigned column) {
        const std::uint64_t bits =
            begun_.fragments[place.lane * kFragment + place.reg] >> place.part * bits_of_element(shape_.a);
        std::memcpy(elements_.data() + (row * shape_.k + column) * bytes, &bits, bytes);
      });
    } else {
      factor_a(*lanes_[0], in_, begun_.a)
          .read(lanes_[0]->block->shared(), elements_.data(), shape_.k * bytes, bytes);
    }
    take_factor(shape_.a, shape_.at_signs(), std::span(a_).first(std::size_t{kRows} * shape_.k));
  }

  void read_b() {
    const unsigned bytes = bits_of_element(shape_.b) / 8;
    factor_b(*lanes_[0], in_, begun_.b)
        .read(lanes_[0]->block->shared(), elements_.data(), bytes, columns_ * bytes);
    take_factor(shape_.b, shape_.at_signs() + 1, b_);
  }

  void take_factor(Type type, std::size_t sign, std::span<Number> factor) {
    widen_elements(type, elements_.data(), factor.size(), factor.data());
    if (shape_.is_of_integers() || static_cast<std::int32_t>(value_at(*lanes_[0], in_, sign)) >= 0) return;
    for (Number& number : factor) number = -number;
  }

  void read_sums() {
    sums().gather(order_of_sums(), elements_.data());
    if constexpr (std::is_same_v<Number, float>) {
      widen_elements(shape_.d, elements_.data(), sums_.size(), sums_.data());
    } else {
      std::memcpy(sums_.data(), elements_.data(), sums_.size() * sizeof(Number));
    }
  }

  Fragment sums() const { return {lanes_, kWarpSize, in_, 0, static_cast<unsigned>(shape_.at_a())}; }

  // The registers of a lane go from tile to tile.
  const ElementOrder& order_of_sums() const {
    // Never destroyed: kernels may run while the process ends.
    thread_local auto* const known = new std::unordered_map<std::uint64_t, ElementOrder>;
    const auto [entry, is_new] =
        known->try_emplace(std::uint64_t{shape_.tiles} << 8 | shape_.registers_of_tile());
    if (is_new) {
      entry->second = order_of_elements(kWarpSize, sums().registers, shape_.d, columns_, [&](auto visit) {
        for (unsigned tile = 0; tile < shape_.tiles; ++tile) {
          MmaLayout::c(product_, shape_.d, [&](const Place& place, unsigned row, unsigned column) {
            visit({place.lane, tile * shape_.registers_of_tile() + place.reg, place.part}, row,
                  tile * kColumns + column);
          });
        }
      });
    }
    return entry->second;
  }

  Thread* const* lanes_;
  const BegunProduct& begun_;
  const Instruction& in_;
  const Shape shape_;
  const Product product_;
  const unsigned columns_;
  std::array<Number, kMostFactors> a_{};  // row by row, as all of these are
  std::vector<Number> b_;
  std::vector<Number> sums_;
  std::vector<unsigned char> elements_;  // of the matrix that is read or written
};

void commit(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  lanes[0]->block->products_of(*lanes[0]).commit();
}

void wait_for_groups(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  const Thread& first = *lanes[0];
  const auto kept = read<std::uint32_t>(first, first.current(), 0);
  for (const PendingWork& work : first.block->products_of(first).take_all_but(kept)) {
    if (const auto* const move = std::get_if<MoveOfSums>(&work)) {
      repeat_move(*lanes[move->lane], *move);
      continue;
    }
    const auto& begun = std::get<BegunProduct>(work);
    if (begun.function != &first.function())
      fail(first.current(), Fault::unsupported, " in another function than " + *begun.instruction->text);
    if (Shape::of(*begun.instruction).is_of_integers()) {
      Computation<std::int32_t>(lanes, begun).perform();
    } else {
      Computation<float>(lanes, begun).perform();
    }
  }
}

void meet(Thread* const* lanes, std::uint32_t mask) { require_whole_warp(lanes, mask); }

bool is_byte(Type type) { return type == Type::s8 || type == Type::u8; }

bool is_byte_float(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

// Whether PTX has the product, and with how many columns.
bool exists(const Shape& s) {
  if (is_byte(s.a) && is_byte(s.b))
    return s.d == Type::s32 && s.k == 32 && (s.tiles <= 4 || s.tiles % 2 == 0);
  if (is_byte_float(s.a) && is_byte_float(s.b)) return (s.d == Type::f32 || s.d == Type::f16) && s.k == 32;
  if (s.a != s.b) return false;
  switch (s.a) {
    case Type::f16:
      return (s.d == Type::f32 || s.d == Type::f16) && s.k == 16;
    case Type::bf16:
      return s.d == Type::f32 && s.k == 16;
    case Type::tf32:
      return s.d == Type::f32 && s.k == 8;
    default:
      return false;
  }
}

bool take_shape(Modifiers& modifiers, Shape& shape) {
  for (const unsigned k : {8u, 16u, 32u}) {
    for (unsigned n = kColumns; n <= kMostColumns; n += kColumns) {
      if (!modifiers.take("m64n" + std::to_string(n) + "k" + std::to_string(k))) continue;
      shape.tiles = static_cast<std::uint8_t>(n / kColumns);
      shape.k = static_cast<std::uint8_t>(k);
      return true;
    }
  }
  return false;
}

Handler select_product(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  Shape shape;
  if (!take_shape(modifiers, shape)) return nullptr;
  shape.d = modifiers.take_type();
  shape.a = modifiers.take_type();
  shape.b = modifiers.take_type();
  shape.saturates = shape.is_of_integers() && modifiers.take("satfinite");
  shape.has_transposes = bits_of_element(shape.a) == 16;
  shape.a_in_registers = draft.is(1, Operand::Kind::vector);
  // d, a, b, scale-d, for all but integers the signs, and for numbers of 16 bits the orders of what is in
  // shared memory
  const std::size_t expected = 4u + (shape.is_of_integers() ? 0u : 2u) +
                               (shape.has_transposes ? (shape.a_in_registers ? 1u : 2u) : 0u);
  if (!exists(shape) || draft.operands.size() != expected) return nullptr;
  if (draft.operands[0].slots.size() != shape.at_a() ||
      (shape.a_in_registers && draft.operands[1].slots.size() != kFragment))
    return nullptr;
  draft.instruction.immediate = std::bit_cast<std::int64_t>(shape);
  return &wait_for_whole_warp<&begin>;
}

}  // namespace wgmma

std::vector<UnitOfProduct> units_of_product(const Thread& thread, const Instruction& in) {
  using namespace wgmma;
  const Shape shape = Shape::of(in);
  std::vector<UnitOfProduct> units;
  const auto add = [&](const Factor& factor, bool is_of_a) {
    const unsigned width = factor.elements_of_unit();
    factor.for_each_unit([&](std::uint32_t address, unsigned unit, unsigned across) {
      units.push_back({address, is_of_a, factor.along_k ? across : unit * width, factor.along_k ? 1 : width});
    });
  };
  if (!shape.a_in_registers) add(factor_a(thread, in, value_at(thread, in, shape.at_a())), true);
  add(factor_b(thread, in, value_at(thread, in, shape.at_b())), false);
  return units;
}

void for_each_sum_of_product(const Instruction& in, const std::function<void(const SumOfProduct&)>& visit) {
  using namespace wgmma;
  const Shape shape = Shape::of(in);
  const unsigned bits = bits_of_element(shape.d);
  for (unsigned tile = 0; tile < shape.tiles; ++tile) {
    MmaLayout::c(shape.product_of_tile(), shape.d, [&](const Place& place, unsigned row, unsigned column) {
      visit({place.lane, tile * shape.registers_of_tile() + place.reg,
             ((std::uint64_t{1} << bits) - 1) << place.part * bits, row, tile * kColumns + column});
    });
  }
}

std::pair<std::size_t, std::size_t> registers_of_a(const Instruction& in) {
  const wgmma::Shape shape = wgmma::Shape::of(in);
  return {shape.at_a(), shape.at_a() + (shape.a_in_registers ? wgmma::kFragment : 0)};
}

bool adds_to_sums(const Thread& thread, const Instruction& in) {
  return wgmma::is_set(thread, in, wgmma::Shape::of(in).at_adds());
}

std::vector<Slot> registers_of_product(const Instruction& in) {
  const wgmma::Shape shape = wgmma::Shape::of(in);
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < (shape.a_in_registers ? shape.at_b() : shape.at_a()); ++i)
    slots.push_back(in.slot(i));
  return slots;
}

bool waits_for_all_products(const Instruction& in, const OperandForm& form,
                            const std::vector<std::uint64_t>& initial) {
  return form.effect.kind == Effect::Kind::product_wait && in.guard < 0 &&
         initial[static_cast<std::size_t>(in.slot(0))] == 0;
}

static Handler select_wgmma(Draft& draft) {
  using namespace wgmma;
  Modifiers& modifiers = draft.modifiers;
  const std::size_t operands = draft.operands.size();
  if (!modifiers.take("sync") || !modifiers.take("aligned")) return nullptr;
  if (modifiers.take("mma_async")) return select_product(draft);
  if (modifiers.take("fence")) return operands == 0 ? &wait_for_whole_warp<&meet> : nullptr;
  if (modifiers.take("commit_group")) return operands == 0 ? &wait_for_whole_warp<&commit> : nullptr;
  return modifiers.take("wait_group") && operands == 1 ? &wait_for_whole_warp<&wait_for_groups> : nullptr;
}

static Effect effect_of_product(const Modifiers& words) {
  if (words.has("mma_async"))
    return {.kind = Effect::Kind::product, .space = Space::shared, .bytes = 16, .lanes = 0};
  if (words.has("fence")) return {.kind = Effect::Kind::product_fence};
  return {.kind = words.has("commit_group") ? Effect::Kind::product_commit : Effect::Kind::product_wait};
}

std::vector<OpcodeRow> opcodes_of_wgmma() {
  return {
      // Those of sparse matrices, which are not simulated, have the most.
      {"wgmma",
       {&select_wgmma, 0, 10, Result::of_products, Waits::for_warp, &effect_of_product, &flow_of_number}},
  };
}

}  // namespace opgate::simulator
