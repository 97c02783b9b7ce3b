// Halves of matrices, as many at once as a vector holds. This is no header: matrix_rows.h includes it. Counts
// are multiples of the columns of a strip.

using Halves = std::uint16_t __attribute__((vector_size(OPGATE_COLUMNS * sizeof(std::uint16_t))));

// What semantics::f32_of_half does.
OPGATE_INLINED void widen(Row& wide, const Unsigned& halves) {
  const Unsigned magnitude = (halves & 0x7fff) << 13;
  const Unsigned sign = (halves & 0x8000) << 16;
  const Unsigned number = reinterpret_cast<Unsigned>(reinterpret_cast<Row>(magnitude) * 0x1p112f);
  wide = reinterpret_cast<Row>(sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : number));
}

// What semantics::half_of_f32 does.
OPGATE_INLINED void narrow(Unsigned& halves, const Row& wide) {
  const Unsigned bits = reinterpret_cast<Unsigned>(wide);
  const Unsigned sign = bits >> 16 & 0x8000;
  const Unsigned magnitude = bits & 0x7fffffff;
  const Unsigned normal = (magnitude + 0xc8000fff + (magnitude >> 13 & 1)) >> 13;
  const Unsigned small = reinterpret_cast<Unsigned>(reinterpret_cast<Row>(magnitude) + 0.5f) - 0x3f000000;
  const Unsigned infinity = 0x7c00 + Unsigned{};
  halves = magnitude < 0x38800000 ? small : normal;
  halves = sign | (magnitude >= 0x47800000 ? infinity : halves);
  halves = magnitude > 0x7f800000 ? 0x7fff + Unsigned{} : halves;
}

void widen_halves(const std::uint16_t* halves, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Halves some;
    load(some, halves + i);
    Row wide;
    widen(wide, __builtin_convertvector(some, Unsigned));
    std::memcpy(to + i, &wide, sizeof(wide));
  }
}

void narrow_to_halves(const float* from, std::size_t count, std::uint16_t* halves) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row wide;
    load(wide, from + i);
    Unsigned bits;
    narrow(bits, wide);
    const Halves some = __builtin_convertvector(bits, Halves);
    std::memcpy(halves + i, &some, sizeof(some));
  }
}

void round_to_halves(float* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row wide;
    load(wide, numbers + i);
    Unsigned bits;
    narrow(bits, wide);
    widen(wide, bits);
    std::memcpy(numbers + i, &wide, sizeof(wide));
  }
}
