#include "machine/memory/tensor_map.h"

#include <algorithm>
#include <bit>

namespace opgate::simulator {
namespace tensor_map {

constexpr std::uint32_t kUnit = 16;

using Coordinates = std::array<std::int64_t, TensorMap::kMostRank>;

// What dimension 0 counts. An interleaved tensor has its channels in slices, which lie where other tensors
// have elements.
std::uint32_t bytes_of_column(const TensorMap& map) {
  return map.slice_bytes != 0 ? map.slice_bytes : map.element_bytes();
}

// Coordinates that the box has in a dimension. The channels of an interleaved tensor are its last dimension
// but one: coordinates and sizes count slices there, the box counts channels.
std::uint32_t count_in(const TensorMap& map, std::size_t dimension) {
  if (dimension == 0) return map.box[0];
  const bool is_of_slices = map.slice_bytes != 0 && dimension == std::size_t{map.rank} - 2;
  const std::uint32_t step =
      is_of_slices ? map.slice_bytes / map.element_bytes() : std::max<std::uint32_t>(1, map.steps[dimension]);
  return (map.box[dimension] + step - 1) / step;
}

std::uint32_t rows_of_box(const TensorMap& map) {
  if (map.pixels != 0) return map.pixels;
  std::uint32_t rows = 1;
  for (std::size_t i = 1; i < map.rank; ++i) rows *= count_in(map, i);
  return rows;
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

// Calls a function with the coordinates of the first element of each row of the box.
template <class Visit>
void for_each_row(const TensorMap& map, std::span<const std::int32_t> begin, Visit visit) {
  std::array<std::uint32_t, TensorMap::kMostRank> done{};
  for (std::uint32_t row = 0; row < rows_of_box(map); ++row) {
    Coordinates at{};
    for (std::size_t i = 0; i < map.rank; ++i)
      at[i] = std::int64_t{begin[i]} + std::int64_t{done[i]} * (i == 0 ? 1 : std::max<int>(1, map.steps[i]));
    visit(at);
    for (std::size_t i = 1; i < map.rank && ++done[i] == count_in(map, i); ++i) done[i] = 0;
  }
}

// The same for the pixels of im2col: they go through the rows of an image from its lower to its upper corner,
// and on to the next image, which is the last coordinate.
template <class Visit>
void for_each_pixel(const TensorMap& map, std::span<const std::int32_t> begin,
                    std::span<const std::uint16_t> offsets, Visit visit) {
  const std::size_t image = std::size_t{map.rank} - 1;
  Coordinates at{};
  std::copy_n(begin.begin(), map.rank, at.begin());
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    Coordinates moved = at;
    for (std::size_t i = 1; i < image; ++i) moved[i] += offsets[i - 1];
    visit(moved);
    std::size_t i = 1;
    for (; i < image; ++i) {
      at[i] += std::max<int>(1, map.steps[i]);
      if (at[i] < std::int64_t{map.sizes[i]} + map.upper[i - 1]) break;
      at[i] = map.lower[i - 1];
    }
    if (i == image) ++at[image];
  }
}

// Joins what lies side by side on both sides.
class Runs {
 public:
  void add(const TensorPiece& piece) {
    if (!runs_.empty() && piece.shared % kUnit != 0) {
      TensorPiece& last = runs_.back();
      if (last.shared + last.bytes == piece.shared && last.global.has_value() == piece.global.has_value() &&
          (!piece.global || *last.global + last.bytes == *piece.global)) {
        last.bytes += piece.bytes;
        return;
      }
    }
    runs_.push_back(piece);
  }

  std::vector<TensorPiece> pieces() const {
    std::vector<TensorPiece> pieces;
    for (TensorPiece run : runs_) {
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

 private:
  std::vector<TensorPiece> runs_;
};

void add_row(const TensorMap& map, const Coordinates& begin, std::uint32_t shared, Runs& runs) {
  const std::uint32_t column_bytes = bytes_of_column(map);
  const std::uint32_t step = std::min(column_bytes, kUnit);
  std::uint64_t place = map.address;
  bool is_inside = true;
  for (std::size_t i = 1; i < map.rank; ++i) {
    is_inside &= begin[i] >= 0 && begin[i] < std::int64_t{map.sizes[i]};
    place += static_cast<std::uint64_t>(begin[i]) * map.strides[i];
  }
  for (std::uint32_t at = 0; at < map.box[0] * column_bytes; at += step) {
    const std::int64_t column = begin[0] + at / column_bytes;
    TensorPiece piece{swizzled(map, shared + at), std::nullopt, step};
    if (is_inside && column >= 0 && column < std::int64_t{map.sizes[0]})
      piece.global = place + static_cast<std::uint64_t>(begin[0]) * column_bytes + at;
    runs.add(piece);
  }
}

}  // namespace tensor_map

std::uint32_t TensorMap::bytes_of_box() const {
  return box[0] * tensor_map::bytes_of_column(*this) * tensor_map::rows_of_box(*this);
}

std::vector<TensorPiece> TensorMap::pieces(std::span<const std::int32_t> begin, std::uint32_t shared,
                                           std::span<const std::uint16_t> offsets) const {
  using namespace tensor_map;
  // As cards do: rows that are narrower than the swizzling begin where wide ones would.
  const std::uint32_t pitch = std::max<std::uint32_t>(box[0] * bytes_of_column(*this), row_bytes);
  Runs runs;
  const auto add = [&](const Coordinates& at) {
    add_row(*this, at, shared, runs);
    shared += pitch;
  };
  if (pixels != 0) {
    for_each_pixel(*this, begin, offsets, add);
  } else {
    for_each_row(*this, begin, add);
  }
  return runs.pieces();
}

}  // namespace opgate::simulator
