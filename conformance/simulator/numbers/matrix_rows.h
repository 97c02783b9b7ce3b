// Adds the products of a row with columns. This is no header: matrix_sums.cpp includes it once for each kind
// of machine that it compiles it for, each time in another namespace.
#include "simulator/numbers/matrix_wide_rows.h"

// Some columns of a strip, which the machine computes at once; OPGATE_COLUMNS says how many.
using Row = float __attribute__((vector_size(OPGATE_COLUMNS * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(sizeof(Row))));  // comparisons give -1 or 0
using Unsigned = std::uint32_t __attribute__((vector_size(sizeof(Row))));

constexpr std::size_t kParts = kStripColumns / OPGATE_COLUMNS;

#include "simulator/numbers/matrix_conversions.h"
#include "simulator/numbers/matrix_integers.h"

OPGATE_INLINED bool is_any(const Ints& conditions) {
  std::array<std::uint64_t, sizeof(Ints) / sizeof(std::uint64_t)> words;
  std::memcpy(words.data(), &conditions, sizeof(conditions));
  std::uint64_t any = 0;
  for (const std::uint64_t word : words) any |= word;
  return any != 0;
}

OPGATE_INLINED void find_exponents(Ints& exponents, const Row& values) {
  exponents = (reinterpret_cast<Ints>(values) >> 23 & 0xff) - 127;
  exponents = exponents == -127 ? kExponentOfZero + Ints{} : exponents;
}

// Numbers that are added up to 2^`most`: `even` and `odd` hold their multiples of the last bit that is kept.
// Rounds the sum towards zero, or as cut_to_floats does it for `to_odd`.
OPGATE_INLINED void add_up(Row& sum, const Ints& even, const Ints& odd, const Ints& most,
                           const Precision& precision) {
  const Unsigned wrapped = reinterpret_cast<Unsigned>(even) + reinterpret_cast<Unsigned>(odd);
  const Unsigned overflow =
      (reinterpret_cast<Unsigned>(even) ^ wrapped) & (reinterpret_cast<Unsigned>(odd) ^ wrapped);
  const Ints sign = reinterpret_cast<Ints>(wrapped ^ overflow) >> 31;
  const Unsigned magnitude = (wrapped ^ reinterpret_cast<Unsigned>(sign)) - reinterpret_cast<Unsigned>(sign);
  // Ones at all places that a float with the leading bit has not.
  Unsigned cut = magnitude >> 24;
  cut |= cut >> 1;
  cut |= cut >> 2;
  cut |= cut >> 4;
  const Row kept = __builtin_convertvector(magnitude & ~cut, Row);
  const Ints is_cut = (magnitude & cut) != 0;
  const Ints unit = (127 - precision.fraction_bits + most) << 23;
  Ints bits = reinterpret_cast<Ints>(kept * reinterpret_cast<Row>(unit));
  bits |= is_cut & (precision.to_odd ? 1 : 0);
  sum = reinterpret_cast<Row>(bits | (sign & std::numeric_limits<std::int32_t>::min()));
}

// What add_block leaves to do for columns with zeros alone, or numbers outside of what it can add. `most` has
// their exponents.
[[gnu::noinline]] void settle_special(const float* row, const float* strip, std::size_t count,
                                      const Precision& precision, const Row* before, const Ints* most,
                                      float* sums) {
  Ints is_zero[kParts];
  Ints is_wide{};
  for (std::size_t part = 0; part < kParts; ++part) {
    is_zero[part] = most[part] < kExponentOfZero / 2;
    is_wide |= ((most[part] < kLeastExponent) & ~is_zero[part]) | (most[part] > kMostExponent);
  }
  if (is_any(is_wide)) {
    std::memcpy(sums, before, kStripColumns * sizeof(float));
    add_wide_block(row, strip, count, precision, sums);
    return;
  }
  // The signs of the zeros decide about that of the sum.
  for (std::size_t part = 0; part < kParts; ++part, strip += OPGATE_COLUMNS, sums += OPGATE_COLUMNS) {
    Row sum = before[part];
    Row others;
    load(others, sums);
    for (std::size_t k = 0; k < count; ++k) {
      Row products;
      load(products, strip + k * kStripColumns);
      sum += products * row[k];
    }
    sum = is_zero[part] ? sum : others;
    std::memcpy(sums, &sum, sizeof(sum));
  }
}

// Adds to the sums the products of `count` numbers of a row with those of the columns. The products are exact
// in single precision, or so small that all of them is cut off.
template <std::size_t count>
OPGATE_INLINED void add_block(const float* row, const std::int32_t* row_exponents, const float* strip,
                              const std::int32_t* strip_exponents, const Precision& precision, float* sums) {
  Row before[kParts];
  Ints most[kParts];
  Ints is_special{};
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t column = part * OPGATE_COLUMNS;
    load(before[part], sums + column);
    find_exponents(most[part], before[part]);
#pragma GCC unroll 32
    for (std::size_t k = 0; k < count; ++k) {
      Ints exponent;
      load(exponent, strip_exponents + k * kStripColumns + column);
      exponent += row_exponents[k];
      most[part] = exponent > most[part] ? exponent : most[part];
    }
    // What is cut off is below 2^27, so that 32 bits hold the sum of half of it. What comes of special columns
    // does not matter.
    const Row scale = reinterpret_cast<Row>((127 + precision.fraction_bits - most[part]) << 23);
    Ints even = __builtin_convertvector(before[part] * scale, Ints);
    Ints odd{};
#pragma GCC unroll 16
    for (std::size_t k = 0; k < count; k += 2) {
      Row products;
      load(products, strip + k * kStripColumns + column);
      even += __builtin_convertvector(products * row[k] * scale, Ints);
      load(products, strip + (k + 1) * kStripColumns + column);
      odd += __builtin_convertvector(products * row[k + 1] * scale, Ints);
    }
    Row after;
    add_up(after, even, odd, most[part], precision);
    std::memcpy(sums + column, &after, sizeof(after));
    is_special |= (most[part] < kLeastExponent) | (most[part] > kMostExponent);
  }
  if (is_any(is_special)) settle_special(row, strip, count, precision, before, most, sums);
}

// Adds the products of rows of `k` numbers with all columns to as many rows of sums.
template <std::size_t block>
void add_blocks(const Factors& rows, std::size_t row_count, const Factors& strips, std::size_t k,
                const Range& range, const Precision& precision, float* sums, std::size_t columns) {
  for (std::size_t row = 0; row < row_count * k; row += k, sums += columns) {
    for (std::size_t column = 0; column < columns; column += kStripColumns) {
      for (std::size_t first = range.begin; first < range.end; first += block) {
        const std::size_t in_strips = column * k + first * kStripColumns;
        add_block<block>(rows.values + row + first, rows.exponents + row + first, strips.values + in_strips,
                         strips.exponents + in_strips, precision, sums + column);
      }
    }
  }
}

// For factors which are zero, or neither subnormal nor too large.
void add_rows(const Factors& rows, std::size_t row_count, const Factors& strips, std::size_t k,
              const Range& range, const Precision& precision, float* sums, std::size_t columns) {
  switch (range.block) {
    case 4:
      return add_blocks<4>(rows, row_count, strips, k, range, precision, sums, columns);
    case 8:
      return add_blocks<8>(rows, row_count, strips, k, range, precision, sums, columns);
    case 16:
      return add_blocks<16>(rows, row_count, strips, k, range, precision, sums, columns);
    default:
      return add_blocks<32>(rows, row_count, strips, k, range, precision, sums, columns);
  }
}

// The same for all factors.
void add_wide_rows(const Factors& rows, std::size_t row_count, const Factors& strips, std::size_t k,
                   const Range& range, const Precision& precision, float* sums, std::size_t columns) {
  const float* row_values = rows.values;
  for (std::size_t row = 0; row < row_count; ++row, row_values += k, sums += columns) {
    for (std::size_t first_column = 0; first_column < columns; first_column += kStripColumns) {
      const float* const strip = strips.values + first_column * k;
      for (std::size_t first = range.begin; first < range.end; first += range.block)
        add_wide_block(row_values + first, strip + first * kStripColumns, range.block, precision,
                       sums + first_column);
    }
  }
}

// The exponents of numbers, raised to `least` but for zero. Whether add_rows may have them.
bool find_exponents_of(const float* from, std::size_t count, int least, std::int32_t* exponents) {
  Ints is_unusual{};
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row values;
    load(values, from + i);
    const Ints magnitude = reinterpret_cast<Ints>(values) & std::numeric_limits<std::int32_t>::max();
    Ints exponent;
    find_exponents(exponent, values);
    is_unusual |= (exponent >= kMostExponent) | ((exponent == kExponentOfZero) & (magnitude != 0));
    exponent = (exponent < least) & (magnitude != 0) ? least + Ints{} : exponent;
    std::memcpy(exponents + i, &exponent, sizeof(exponent));
  }
  return !is_any(is_unusual);
}

// The rows of a matrix of so many columns, in this order, strip by strip.
void arrange_strips(const float* matrix, std::size_t columns, const Order& order, std::size_t rows,
                    float* strips) {
  for (std::size_t first = 0; first < columns; first += kStripColumns) {
    for (std::size_t row = 0; row < rows; ++row, strips += kStripColumns)
      std::memcpy(strips, matrix + order[row] * columns + first, kStripColumns * sizeof(float));
  }
}
