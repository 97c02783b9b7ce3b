// Adds the products of a row with columns. This is no header: matrix_sums.cpp includes it once for each kind
// of machine that it compiles it for, each time in another namespace.

// Some columns of a strip, which the machine computes at once; OPGATE_LANES says how many.
using Doubles = double __attribute__((vector_size(OPGATE_LANES * sizeof(double))));
using Bits = std::int64_t __attribute__((vector_size(sizeof(Doubles))));  // comparisons give -1 or 0
using Floats = float __attribute__((vector_size(OPGATE_LANES * sizeof(float))));
using Words = std::int32_t __attribute__((vector_size(sizeof(Floats))));

constexpr std::size_t kParts = kStripColumns / OPGATE_LANES;

template <class Vector, class Element>
OPGATE_INLINED void load(Vector& vector, const Element* from) {
  std::memcpy(&vector, from, sizeof(vector));
}

OPGATE_INLINED void find_powers(Doubles& powers, const Doubles& values) {
  powers = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(values) & kBitsOfPower);
  powers = powers > kPowerOfZero ? powers : kPowerOfZero + Doubles{};
}

OPGATE_INLINED void make_positive(Doubles& numbers) {
  numbers = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(numbers) & ~kBitOfSign);
}

// Rounds towards zero. `odd`: and sets the last bit if that is not exact: rounded again, to a half, it then
// gives what rounding the value would have given.
OPGATE_INLINED void cut_to_floats(Floats& floats, const Doubles& values, bool odd) {
  floats = __builtin_convertvector(values, Floats);
  Doubles back = __builtin_convertvector(floats, Doubles);
  Doubles whole = values;
  make_positive(whole);
  make_positive(back);
  const Bits is_finite = back <= std::numeric_limits<float>::max();
  const Words is_above = __builtin_convertvector((back > whole) & is_finite, Words);
  const Words is_cut = __builtin_convertvector((back != whole) & is_finite, Words);
  floats = reinterpret_cast<Floats>((reinterpret_cast<Words>(floats) + is_above) | (is_cut & (odd ? 1 : 0)));
}

// Adds to the sums the products of `count` numbers of a row with those of the columns.
OPGATE_INLINED void add_block(const Numbers& row, const Numbers& strip, std::size_t count,
                              const Precision& precision, float* sums) {
  Floats before[kParts];
  Doubles wide[kParts];
  Doubles most[kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    load(before[part], sums + part * OPGATE_LANES);
    wide[part] = __builtin_convertvector(before[part], Doubles);
    find_powers(most[part], wide[part]);
  }
  for (std::size_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < kParts; ++part) {
      Doubles power;
      load(power, strip.powers + k * kStripColumns + part * OPGATE_LANES);
      power *= row.powers[k];
      most[part] = power > most[part] ? power : most[part];
    }
  }
  // What is cut off is below 2^27, so that 32 bits hold the sum of half of it. What comes of special columns
  // does not matter.
  Doubles scale[kParts];
  Words even[kParts];
  Words odd[kParts];
  for (std::size_t part = 0; part < kParts; ++part) {
    scale[part] = reinterpret_cast<Doubles>(precision.bits_of_scale - reinterpret_cast<Bits>(most[part]));
    even[part] = __builtin_convertvector(wide[part] * scale[part], Words);
    odd[part] = Words{};
  }
  for (std::size_t k = 0; k < count; k += 2) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < kParts; ++part) {
      const double* const values = strip.values + k * kStripColumns + part * OPGATE_LANES;
      Doubles products;
      load(products, values);
      even[part] += __builtin_convertvector(products * row.values[k] * scale[part], Words);
      load(products, values + kStripColumns);
      odd[part] += __builtin_convertvector(products * row.values[k + 1] * scale[part], Words);
    }
  }
  Bits special{};
  for (std::size_t part = 0; part < kParts; ++part) {
    const Doubles total =
        __builtin_convertvector(even[part], Doubles) + __builtin_convertvector(odd[part], Doubles);
    Floats after;
    cut_to_floats(after, total * (most[part] * precision.unit), precision.to_odd);
    std::memcpy(sums + part * OPGATE_LANES, &after, sizeof(after));
    special |= (most[part] < kLeastPower) | (most[part] > std::numeric_limits<double>::max());
  }
  std::int64_t any = 0;
  for (std::size_t j = 0; j < OPGATE_LANES; ++j) any |= special[j];
  if (any == 0) return;
  for (std::size_t j = 0; j < kStripColumns; ++j) {
    const double power = most[j / OPGATE_LANES][j % OPGATE_LANES];
    if (power < kLeastPower || power > std::numeric_limits<double>::max())
      sums[j] = plain_sum(row, strip, j, count, before[j / OPGATE_LANES][j % OPGATE_LANES]);
  }
}

// What semantics::f32_of_half does, of as many numbers as a vector holds. `count` is a multiple of them.
void widen_halves(const std::uint16_t* halves, std::size_t count, float* to) {
  using Halves = std::uint16_t __attribute__((vector_size(OPGATE_LANES * sizeof(std::uint16_t))));
  for (std::size_t i = 0; i < count; i += OPGATE_LANES) {
    Halves some;
    load(some, halves + i);
    const Words bits = __builtin_convertvector(some, Words);
    const Words magnitude = (bits & 0x7fff) << 13;
    const Words sign = (bits & 0x8000) << 16;
    const Words number = reinterpret_cast<Words>(reinterpret_cast<Floats>(magnitude) * 0x1p112f);
    const Words wide = sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : number);
    std::memcpy(to + i, &wide, sizeof(wide));
  }
}

// Numbers in double precision, and the powers of two below them.
OPGATE_INLINED void spread_some(const float* from, std::size_t count, double* values, double* powers) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from[i];
    const double power =
        __builtin_bit_cast(double, __builtin_bit_cast(std::int64_t, values[i]) & kBitsOfPower);
    powers[i] = power > kPowerOfZero ? power : kPowerOfZero;
  }
}

void spread(const float* from, std::size_t count, double* values, double* powers) {
  spread_some(from, count, values, powers);
}

// The same of a matrix of so many columns, strip by strip; in each, the rows follow each other in this order.
void spread_strips(const float* matrix, std::size_t columns, const Order& order, std::size_t rows,
                   double* values, double* powers) {
  for (std::size_t first = 0; first < columns; first += kStripColumns) {
    for (std::size_t row = 0; row < rows; ++row, values += kStripColumns, powers += kStripColumns)
      spread_some(matrix + order[row] * columns + first, kStripColumns, values, powers);
  }
}

// Adds the products of rows of `k` numbers with all columns to as many rows of sums.
void add_rows(Numbers rows, std::size_t row_count, const Numbers& strips, std::size_t k, const Range& range,
              Precision precision, float* sums, std::size_t columns) {
  for (std::size_t row = 0; row < row_count; ++row, rows = rows.behind(k), sums += columns) {
    for (std::size_t first_column = 0; first_column < columns; first_column += kStripColumns) {
      const Numbers strip = strips.behind(first_column * k);
      for (std::size_t first = range.begin; first < range.end; first += range.block)
        add_block(rows.behind(first), strip.behind(first * kStripColumns), range.block, precision,
                  sums + first_column);
    }
  }
}
