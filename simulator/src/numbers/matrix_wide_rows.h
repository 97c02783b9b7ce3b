// Adds the products of a row with columns in double precision, for factors and sums for which matrix_rows.h
// cannot use single precision: infinities, NaN, and very small and very large numbers. This is no header:
// matrix_rows.h includes it.

// Some columns of a strip; OPGATE_LANES says how many.
using Doubles = double __attribute__((vector_size(OPGATE_LANES * sizeof(double))));
using Bits = std::int64_t __attribute__((vector_size(sizeof(Doubles))));  // comparisons give -1 or 0
using Floats = float __attribute__((vector_size(OPGATE_LANES * sizeof(float))));
using Words = std::int32_t __attribute__((vector_size(sizeof(Floats))));

constexpr std::size_t kWideParts = OPGATE_COLUMNS / OPGATE_LANES;

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

OPGATE_INLINED void spread(const float* from, std::size_t count, double least, double* values,
                           double* powers) {
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = from[i];
    const double power =
        __builtin_bit_cast(double, __builtin_bit_cast(std::int64_t, values[i]) & kBitsOfPower);
    powers[i] = power > kPowerOfZero ? std::max(power, least) : kPowerOfZero;
  }
}

// What add_block does. The rows of `strip_values` lie as in a whole strip.
[[gnu::noinline]] void add_wide_block(const float* row_values, const float* strip_values, std::size_t count,
                                      const Precision& precision, float* sums) {
  std::array<double, kMostInRow> row;
  std::array<double, kMostInRow> row_powers;
  std::array<double, kMostInRow * OPGATE_COLUMNS> strip;
  std::array<double, kMostInRow * OPGATE_COLUMNS> strip_powers;
  spread(row_values, count, std::ldexp(1.0, precision.least_of_a), row.data(), row_powers.data());
  for (std::size_t k = 0; k < count; ++k)
    spread(strip_values + k * kStripColumns, OPGATE_COLUMNS, std::ldexp(1.0, precision.least_of_b),
           strip.data() + k * OPGATE_COLUMNS, strip_powers.data() + k * OPGATE_COLUMNS);
  Floats before[kWideParts];
  Doubles wide[kWideParts];
  Doubles most[kWideParts];
  for (std::size_t part = 0; part < kWideParts; ++part) {
    load(before[part], sums + part * OPGATE_LANES);
    wide[part] = __builtin_convertvector(before[part], Doubles);
    find_powers(most[part], wide[part]);
  }
  for (std::size_t k = 0; k < count; ++k) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < kWideParts; ++part) {
      Doubles power;
      load(power, strip_powers.data() + k * OPGATE_COLUMNS + part * OPGATE_LANES);
      power *= row_powers[k];
      most[part] = power > most[part] ? power : most[part];
    }
  }
  // What is cut off is below 2^27, so that 32 bits hold the sum of half of it. What comes of special columns
  // does not matter.
  Doubles scale[kWideParts];
  Words even[kWideParts];
  Words odd[kWideParts];
  for (std::size_t part = 0; part < kWideParts; ++part) {
    const std::int64_t bits_of_scale = std::int64_t{2 * 1023 + precision.fraction_bits} << 52;
    scale[part] = reinterpret_cast<Doubles>(bits_of_scale - reinterpret_cast<Bits>(most[part]));
    even[part] = __builtin_convertvector(wide[part] * scale[part], Words);
    odd[part] = Words{};
  }
  for (std::size_t k = 0; k < count; k += 2) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < kWideParts; ++part) {
      const double* const values = strip.data() + k * OPGATE_COLUMNS + part * OPGATE_LANES;
      Doubles products;
      load(products, values);
      even[part] += __builtin_convertvector(products * row[k] * scale[part], Words);
      load(products, values + OPGATE_COLUMNS);
      odd[part] += __builtin_convertvector(products * row[k + 1] * scale[part], Words);
    }
  }
  const double unit = 1 / static_cast<double>(std::uint64_t{1} << precision.fraction_bits);
  for (std::size_t part = 0; part < kWideParts; ++part) {
    const Doubles total =
        __builtin_convertvector(even[part], Doubles) + __builtin_convertvector(odd[part], Doubles);
    Floats after;
    cut_to_floats(after, total * (most[part] * unit), precision.to_odd);
    std::memcpy(sums + part * OPGATE_LANES, &after, sizeof(after));
  }
  for (std::size_t j = 0; j < OPGATE_COLUMNS; ++j) {
    const double power = most[j / OPGATE_LANES][j % OPGATE_LANES];
    if (power < kLeastPower || power > std::numeric_limits<double>::max())
      sums[j] = plain_sum(row.data(), strip.data() + j, OPGATE_COLUMNS, count,
                          before[j / OPGATE_LANES][j % OPGATE_LANES]);
  }
}

// Adds halves. The sums become what they are as halves only if they are rounded to halves next. A sum of
// zeros is positive. `count` is a multiple of those of a strip.
void add_halves_to_odd(const float* halves, std::size_t count, float* sums) {
  for (std::size_t i = 0; i < count; i += OPGATE_LANES) {
    Floats a;
    Floats b;
    load(a, sums + i);
    load(b, halves + i);
    const Doubles sum = __builtin_convertvector(a, Doubles) + __builtin_convertvector(b, Doubles);
    cut_to_floats(a, sum + Doubles{}, /*odd=*/true);
    std::memcpy(sums + i, &a, sizeof(a));
  }
}
