// Adds the products of a row with columns. This is no header: matrix_sums.cpp includes it once for each kind
// of machine that it compiles it for, each time in another namespace.
#include "numbers/matrix_wide_rows.h"

// Some columns of a strip, which the machine computes at once; OPGATE_COLUMNS says how many.
using Row = float __attribute__((vector_size(OPGATE_COLUMNS * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(sizeof(Row))));  // comparisons give -1 or 0
using Unsigned = std::uint32_t __attribute__((vector_size(sizeof(Row))));

#include "numbers/matrix_conversions.h"
#include "numbers/matrix_integers.h"

OPGATE_INLINED bool is_any(const Ints& conditions) {
  using Flags = std::int8_t __attribute__((vector_size(OPGATE_COLUMNS)));
  const Flags flags = __builtin_convertvector(conditions, Flags);
  std::uint64_t any = 0;
  std::memcpy(&any, &flags, sizeof(flags));
  return any != 0;
}

OPGATE_INLINED void find_exponents(Ints& exponents, const Row& values) {
  exponents = (reinterpret_cast<Ints>(values) >> 23 & 0xff) - 127;
  exponents = exponents == -127 ? kExponentOfZero + Ints{} : exponents;
}

// Numbers that are added up to 2^`most`: `even` and `odd` hold their multiples of the last bit that is kept.
// Rounds the sum towards zero, or as cut_to_floats does it for `to_odd`.
OPGATE_INLINED void add_up(Row& sum, const Unsigned& even, const Unsigned& odd, const Ints& most,
                           const Precision& precision) {
  const Unsigned wrapped = even + odd;
  const Unsigned overflow = (even ^ wrapped) & (odd ^ wrapped);
  const Ints sign = reinterpret_cast<Ints>(wrapped ^ overflow) >> 31;
  const Unsigned magnitude = (wrapped ^ reinterpret_cast<Unsigned>(sign)) - reinterpret_cast<Unsigned>(sign);
  // Without the highest bit that a float has no room for, the conversion rounds towards zero.
  const Unsigned kept = magnitude & ~(magnitude >> 24);
  const Row unit = reinterpret_cast<Row>((127 - precision.fraction_bits + most) << 23);
  Ints bits = reinterpret_cast<Ints>(__builtin_convertvector(kept, Row) * unit);
  bits |= sign & std::numeric_limits<std::int32_t>::min();
  if (precision.to_odd) {
    Unsigned behind = magnitude >> 24;
    behind |= behind >> 1;
    behind |= behind >> 2;
    behind |= behind >> 4;
    bits |= ((magnitude & behind) != 0) & 1;
  }
  sum = reinterpret_cast<Row>(bits);
}

// Some rows of a strip, or as many of its columns as the machine computes at once.
template <std::size_t count>
struct Strip {
  Row values[count];
  Ints exponents[count];
};

// The exponent of the largest product of a block or of the sum before.
OPGATE_INLINED void find_most(Ints& most, const Row& before, const std::int32_t* row, const Ints* strip,
                              std::size_t count) {
  Ints odd = strip[0] + row[0];
  find_exponents(most, before);
#pragma GCC unroll 32
  for (std::size_t k = 1; k < count; ++k) {
    const Ints exponent = strip[k] + row[k];
    Ints& so_far = k % 2 == 0 ? odd : most;
    so_far = exponent > so_far ? exponent : so_far;
  }
  most = odd > most ? odd : most;
}

OPGATE_INLINED void find_outside(Ints& is_outside, const Ints& most) {
  is_outside =
      reinterpret_cast<Unsigned>(most - kLeastExponent) > std::uint32_t{kMostExponent - kLeastExponent};
}

// The sums of columns with zeros alone, and those of the others, which are in `after`. `sum` has what was
// there before, and `most` what find_most finds.
OPGATE_INLINED void settle_zeros(const float* row, const Row* strip, std::size_t count, const Ints& most,
                                 const Row& after, Row& sum) {
  // The signs of the zeros decide about that of the sum.
  for (std::size_t k = 0; k < count; ++k) sum += strip[k] * row[k];
  sum = most < kExponentOfZero / 2 ? sum : after;
}

// Adds to the sums the products of `count` numbers of a row with those of some columns. The products are
// exact in single precision, or so small that all of them is cut off. Whether that gives all of the sums;
// otherwise they are not changed.
template <std::size_t count>
OPGATE_INLINED bool add_block(const float* row, const std::int32_t* row_exponents, const Strip<count>& strip,
                              const Precision& precision, float* sums) {
  Row before;
  load(before, sums);
  Ints most;
  find_most(most, before, row_exponents, strip.exponents, count);
  // What is cut off is below 2^27, so that 32 bits hold the sum of half of it. What comes of special columns
  // does not matter.
  const Row scale = reinterpret_cast<Row>((127 + precision.fraction_bits - most) << 23);
  Unsigned even = reinterpret_cast<Unsigned>(__builtin_convertvector(before * scale, Ints));
  Unsigned odd{};
#pragma GCC unroll 32
  for (std::size_t k = 0; k < count; ++k) {
    Unsigned& so_far = k % 2 == 0 ? even : odd;
    so_far += reinterpret_cast<Unsigned>(__builtin_convertvector(strip.values[k] * row[k] * scale, Ints));
  }
  Row after;
  add_up(after, even, odd, most, precision);
  Ints is_outside;
  find_outside(is_outside, most);
  if (is_any(is_outside)) {
    if (is_any(is_outside & (most >= kExponentOfZero / 2))) return false;
    settle_zeros(row, strip.values, count, most, after, before);
    after = before;
  }
  std::memcpy(sums, &after, sizeof(after));
  return true;
}

// Adds the products of rows until one of them is not usual, and returns how many there are before that one.
// Without a call between two rows, the strip stays in registers.
template <std::size_t block>
OPGATE_INLINED std::size_t add_usual_rows(const Factors& rows, std::size_t row_count, std::size_t k,
                                          const Strip<block>& strip, const Precision& precision, float* sums,
                                          std::size_t columns) {
  // Copies stay in registers: the sums that are stored might overlap the originals.
  const Precision same_precision = precision;
  const float* values = rows.values;
  const std::int32_t* exponents = rows.exponents;
  for (std::size_t row = 0; row < row_count; ++row, values += k, exponents += k, sums += columns) {
    if (!add_block<block>(values, exponents, strip, same_precision, sums)) return row;
  }
  return row_count;
}

// Adds the products of `block` numbers of each row with those of some columns to as many rows of sums.
template <std::size_t block>
OPGATE_INLINED void add_strip(const Factors& rows, std::size_t row_count, std::size_t k, const float* values,
                              const std::int32_t* exponents, bool is_usual, const Precision& precision,
                              float* sums, std::size_t columns) {
  Strip<block> strip;
#pragma GCC unroll 32
  for (std::size_t i = 0; i < block; ++i) {
    load(strip.values[i], values + i * kStripColumns);
    load(strip.exponents[i], exponents + i * kStripColumns);
  }
  for (std::size_t row = 0; row < row_count; ++row) {
    if (is_usual)
      row += add_usual_rows<block>({rows.values + row * k, rows.exponents + row * k}, row_count - row, k,
                                   strip, precision, sums + row * columns, columns);
    if (row == row_count) return;
    add_wide_block(rows.values + row * k, values, block, precision, sums + row * columns);
  }
}

// Adds the products of rows of `k` numbers with all columns to as many rows of sums.
template <std::size_t block>
void add_blocks(const Factors& rows, std::size_t row_count, const Factors& strips, std::size_t k,
                const Range& range, bool is_usual, const Precision& precision, float* sums,
                std::size_t columns) {
  for (std::size_t column = 0; column < columns; column += OPGATE_COLUMNS) {
    const std::size_t of_column = column / kStripColumns * kStripColumns * k + column % kStripColumns;
    for (std::size_t first = range.begin; first < range.end; first += block) {
      const std::size_t in_strips = of_column + first * kStripColumns;
      add_strip<block>({rows.values + first, rows.exponents + first}, row_count, k, strips.values + in_strips,
                       strips.exponents + in_strips, is_usual, precision, sums + column, columns);
    }
  }
}

// `is_usual`: all factors are zero, or neither subnormal nor too large.
void add_rows(const Factors& rows, std::size_t row_count, const Factors& strips, std::size_t k,
              const Range& range, bool is_usual, const Precision& precision, float* sums,
              std::size_t columns) {
  const auto add = [&] {
    switch (range.block) {
      case 4:
        return &add_blocks<4>;
      case 8:
        return &add_blocks<8>;
      case 16:
        return &add_blocks<16>;
      default:
        return &add_blocks<32>;
    }
  }();
  add(rows, row_count, strips, k, range, is_usual, precision, sums, columns);
}

void raise_exponents(int least, std::size_t count, std::int32_t* exponents) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Ints exponent;
    load(exponent, exponents + i);
    exponent = (exponent < least) & (exponent != kExponentOfZero) ? least + Ints{} : exponent;
    std::memcpy(exponents + i, &exponent, sizeof(exponent));
  }
}

// The exponents of numbers, raised to `least` but for zero. Whether all are usual.
bool find_exponents_of(const float* from, std::size_t count, int least, std::int32_t* exponents) {
  Ints most{};
  Ints of_zeros{};  // and of subnormal numbers
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row values;
    load(values, from + i);
    Ints exponent;
    find_exponents(exponent, values);
    most = exponent > most ? exponent : most;
    of_zeros |= reinterpret_cast<Ints>(values) & (exponent == kExponentOfZero);
    std::memcpy(exponents + i, &exponent, sizeof(exponent));
  }
  if (least != kNoLeast) raise_exponents(least, count, exponents);
  of_zeros &= std::numeric_limits<std::int32_t>::max();
  return !is_any((most >= kMostExponent) | (of_zeros != 0));
}

// The rows of a matrix of so many columns, in this order, strip by strip.
void arrange_strips(const float* matrix, std::size_t columns, const Order& order, std::size_t rows,
                    float* strips) {
  for (std::size_t first = 0; first < columns; first += kStripColumns) {
    for (std::size_t row = 0; row < rows; ++row, strips += kStripColumns)
      std::memcpy(strips, matrix + order[row] * columns + first, kStripColumns * sizeof(float));
  }
}
