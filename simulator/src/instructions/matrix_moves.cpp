// ldmatrix, stmatrix and movmatrix: matrices of eight rows of eight numbers of 16 bits. Lane 4 i + j holds
// the elements 2 j and 2 j + 1 of row i, or of column i where the matrix is transposed on the way.
#include <array>
#include <cstring>
#include <optional>

#include "instructions/collectives.h"
#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace matrix_moves {

constexpr std::size_t kSide = 8;
constexpr std::size_t kRowBytes = kSide * sizeof(std::uint16_t);

struct Matrix {
  std::array<std::array<std::uint16_t, kSide>, kSide> rows;

  std::uint16_t& at(std::size_t i, std::size_t j, bool transposed) {
    return transposed ? rows[j][i] : rows[i][j];
  }

  std::uint32_t pair_of(std::size_t lane, bool transposed) {
    const std::size_t i = lane / 4;
    const std::size_t j = lane % 4 * 2;
    return at(i, j, transposed) | std::uint32_t{at(i, j + 1, transposed)} << 16;
  }

  void set_pair(std::size_t lane, bool transposed, std::uint32_t pair) {
    const std::size_t i = lane / 4;
    const std::size_t j = lane % 4 * 2;
    at(i, j, transposed) = static_cast<std::uint16_t>(pair);
    at(i, j + 1, transposed) = static_cast<std::uint16_t>(pair >> 16);
  }
};

// The addresses of the rows are those of the first lanes, in their order. Each is checked as an access of its
// thread.
template <Space space, Access access>
unsigned char* row_of(Thread& thread, int address) {
  thread.block->running_thread(thread.linear);
  return locate<space, access>(thread, thread.current(), address_of(thread, thread.current(), address),
                               kRowBytes);
}

template <Space space, int count, bool transposed>
void load(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  std::array<Matrix, count> matrices;
  for (std::size_t lane = 0; lane < count * kSide; ++lane) {
    std::memcpy(matrices[lane / kSide].rows[lane % kSide].data(),
                row_of<space, Access::load>(*lanes[lane], count), kRowBytes);
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < count; ++i) {
      write(*lanes[lane], lanes[lane]->current(), i,
            matrices[static_cast<std::size_t>(i)].pair_of(lane, transposed));
    }
  }
}

template <Space space, int count, bool transposed>
void store(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  std::array<Matrix, count> matrices;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < count; ++i) {
      matrices[static_cast<std::size_t>(i)].set_pair(
          lane, transposed, read<std::uint32_t>(*lanes[lane], lanes[lane]->current(), i + 1));
    }
  }
  for (std::size_t lane = 0; lane < count * kSide; ++lane) {
    std::memcpy(row_of<space, Access::store>(*lanes[lane], 0),
                matrices[lane / kSide].rows[lane % kSide].data(), kRowBytes);
  }
}

void transpose(Thread* const* lanes, std::uint32_t mask) {
  require_whole_warp(lanes, mask);
  Matrix matrix;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane)
    matrix.set_pair(lane, false, read<std::uint32_t>(*lanes[lane], lanes[lane]->current(), 1));
  for (std::size_t lane = 0; lane < kWarpSize; ++lane)
    write(*lanes[lane], lanes[lane]->current(), 0, matrix.pair_of(lane, true));
}

// `choose.operator()<space, count, transposed>()`
template <class Choose>
Handler select(Draft& draft, std::size_t registers, std::size_t address, Choose choose) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("sync") || !modifiers.take("aligned") || !modifiers.take("m8n8")) return nullptr;
  const std::optional<int> exponent = modifiers.take_one({"x1", "x2", "x4"});
  const bool transposed = modifiers.take("trans");
  const Space space = modifiers.take_space();
  if (!exponent || modifiers.take_type() != Type::b16) return nullptr;
  const int count = 1 << *exponent;
  if (!draft.is(address, Operand::Kind::address) ||
      draft.operands[registers].slots.size() != static_cast<std::size_t>(count))
    return nullptr;
  return for_value<Space::shared, Space::generic>(space, [&]<Space in>() {
    return for_value<1, 2, 4>(count, [&]<int matrices>() {
      return transposed ? choose.template operator()<in, matrices, true>()
                        : choose.template operator()<in, matrices, false>();
    });
  });
}

}  // namespace matrix_moves

static Handler select_load_matrix(Draft& draft) {
  return matrix_moves::select(draft, 0, 1, []<Space space, int count, bool transposed>() {
    return &wait_for_whole_warp<&matrix_moves::load<space, count, transposed>>;
  });
}

static Handler select_store_matrix(Draft& draft) {
  return matrix_moves::select(draft, 1, 0, []<Space space, int count, bool transposed>() {
    return &wait_for_whole_warp<&matrix_moves::store<space, count, transposed>>;
  });
}

static Handler select_move_matrix(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  if (!modifiers.take("sync") || !modifiers.take("aligned") || !modifiers.take("m8n8") ||
      !modifiers.take("trans") || modifiers.take_type() != Type::b16)
    return nullptr;
  return &wait_for_whole_warp<&matrix_moves::transpose>;
}

// Each of the first 8, 16 or 32 threads has the address of a row of 16 bytes.
static Effect effect_of_rows(const Modifiers& given, Effect::Kind kind) {
  Modifiers words = given;
  const auto count = static_cast<unsigned>(1 << words.take_one({"x1", "x2", "x4"}).value_or(0));
  return {.kind = kind,
          .space = words.take_space(),
          .bytes = 16,
          .lanes = 0,
          .rows = static_cast<std::uint8_t>(8 * count),
          .operand = static_cast<std::uint8_t>(kind == Effect::Kind::load ? count : 0)};
}

static Effect effect_of_matrix_load(const Modifiers& words) {
  return effect_of_rows(words, Effect::Kind::load);
}

static Effect effect_of_matrix_store(const Modifiers& words) {
  return effect_of_rows(words, Effect::Kind::store);
}

std::vector<OpcodeRow> opcodes_of_matrix_moves() {
  return {
      {"ldmatrix",
       {&select_load_matrix, 2, 2, Result::first, Waits::for_warp, &effect_of_matrix_load, &flow_of_number}},
      {"stmatrix",
       {&select_store_matrix, 2, 2, Result::none, Waits::for_warp, &effect_of_matrix_store, &flow_of_number}},
      {"movmatrix",
       {&select_move_matrix, 2, 2, Result::first, Waits::for_warp, &no_effect, &flow_of_shuffle}},
  };
}

}  // namespace opgate::simulator
