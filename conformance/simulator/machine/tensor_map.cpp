#include "simulator/machine/tensor_map.h"

#include <algorithm>
#include <bit>

namespace opgate::simulator {
namespace tensor_map {

constexpr std::uint32_t kUnit = 16;

// Elements of a dimension of the box.
std::uint32_t count_in(const TensorMap& map, std::size_t dimension) {
  const std::uint32_t step = std::max<std::uint32_t>(1, map.steps[dimension]);
  return (map.box[dimension] + step - 1) / step;
}

// Exchanges the units of a row with each other, by the number of the row.
std::uint32_t swizzled(const TensorMap& map, std::uint32_t address) {
  const std::uint32_t units = map.row_bytes / kUnit;
  return units == 0 ? address : address ^ ((address >> 7) & (units - 1)) << 4;
}

// What both sides are aligned to.
std::uint32_t alignment_of(const TensorPiece& piece) {
  const std::uint64_t all = piece.shared | piece.global.value_or(0) | kUnit;
  return static_cast<std::uint32_t>(all & (~all + 1));
}

}  // namespace tensor_map

std::uint32_t TensorMap::bytes_of_box() const {
  std::uint32_t bytes = element_bytes();
  for (std::size_t i = 0; i < rank; ++i) bytes *= tensor_map::count_in(*this, i);
  return bytes;
}

std::vector<TensorPiece> TensorMap::pieces(std::span<const std::int32_t> begin, std::uint32_t shared) const {
  using namespace tensor_map;
  std::vector<TensorPiece> runs;
  std::array<std::uint32_t, kMostRank> at{};
  const std::uint32_t elements = bytes_of_box() / element_bytes();
  for (std::uint32_t element = 0; element < elements; ++element) {
    std::uint64_t place = address;
    bool is_inside = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t index = std::int64_t{begin[i]} + std::int64_t{at[i]} * std::max<int>(1, steps[i]);
      is_inside &= index >= 0 && index < std::int64_t{sizes[i]};
      place += static_cast<std::uint64_t>(index) * (i == 0 ? element_bytes() : strides[i]);
    }
    TensorPiece piece{swizzled(*this, shared + element * element_bytes()), std::nullopt, element_bytes()};
    if (is_inside) piece.global = place;
    const bool goes_on = !runs.empty() && piece.shared % kUnit != 0 &&
                         runs.back().shared + runs.back().bytes == piece.shared &&
                         runs.back().global.has_value() == is_inside &&
                         (!is_inside || *runs.back().global + runs.back().bytes == place);
    if (goes_on) {
      runs.back().bytes += element_bytes();
    } else {
      runs.push_back(piece);
    }
    for (std::size_t i = 0; i < rank && ++at[i] == count_in(*this, i); ++i) at[i] = 0;
  }
  std::vector<TensorPiece> pieces;
  for (TensorPiece run : runs) {
    while (run.bytes != 0) {
      TensorPiece piece = run;
      piece.bytes = std::min(alignment_of(run), std::bit_floor(run.bytes));
      pieces.push_back(piece);
      run.shared += piece.bytes;
      if (run.global) *run.global += piece.bytes;
      run.bytes -= piece.bytes;
    }
  }
  return pieces;
}

}  // namespace opgate::simulator
