// Converts elements of matrices, as many at once as a vector holds. This is no header: matrix_rows.h includes
// it. Counts are multiples of the columns of a strip.

using Bytes = std::uint8_t __attribute__((vector_size(OPGATE_COLUMNS)));
using Halves = std::uint16_t __attribute__((vector_size(OPGATE_COLUMNS * sizeof(std::uint16_t))));

// What semantics::f32_of_half does.
OPGATE_INLINED void widen_half(Row& wide, const Unsigned& halves) {
  const Unsigned magnitude = (halves & 0x7fff) << 13;
  const Unsigned sign = (halves & 0x8000) << 16;
  const Unsigned number = reinterpret_cast<Unsigned>(reinterpret_cast<Row>(magnitude) * 0x1p112f);
  wide = reinterpret_cast<Row>(sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : number));
}

// What semantics::half_of_f32 does.
OPGATE_INLINED void narrow_to_half(Unsigned& halves, const Row& wide) {
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

OPGATE_INLINED void widen_e4m3(Row& wide, const Unsigned& bytes) {
  const Unsigned magnitude = (bytes & 0x7f) << 20;
  const Unsigned number = reinterpret_cast<Unsigned>(reinterpret_cast<Row>(magnitude) * 0x1p120f);
  wide = reinterpret_cast<Row>((bytes & 0x80) << 24 |
                               (magnitude == 0x7f << 20 ? magnitude | 0x7f800000 : number));
}

template <class Some, class Widen>
OPGATE_INLINED void widen_all(const unsigned char* elements, std::size_t count, float* to, Widen widen) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Some some;
    load(some, elements + i * (sizeof(some) / OPGATE_COLUMNS));
    const Unsigned bits = __builtin_convertvector(some, Unsigned);
    Row wide;
    widen(wide, bits);
    std::memcpy(to + i, &wide, sizeof(wide));
  }
}

void widen_elements(Type type, const unsigned char* elements, std::size_t count, float* to) {
  switch (type) {
    case Type::f16:
      return widen_all<Halves>(elements, count, to, widen_half);
    case Type::bf16:
      return widen_all<Halves>(elements, count, to, [](Row& wide, const Unsigned& bits) {
        wide = reinterpret_cast<Row>(bits << 16);
      });
    case Type::e4m3:
      return widen_all<Bytes>(elements, count, to, widen_e4m3);
    case Type::e5m2:
      return widen_all<Bytes>(elements, count, to,
                              [](Row& wide, const Unsigned& bits) { widen_half(wide, bits << 8); });
    case Type::tf32:
      // The hardware does not look at the other bits of the fraction.
      return widen_all<Unsigned>(elements, count, to, [](Row& wide, const Unsigned& bits) {
        wide = reinterpret_cast<Row>(bits & 0xffffe000);
      });
    default:
      std::memcpy(to, elements, count * sizeof(float));
  }
}

void narrow_elements(Type type, const float* from, std::size_t count, unsigned char* elements) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row wide;
    load(wide, from + i);
    if (type == Type::f16) {
      Unsigned bits;
      narrow_to_half(bits, wide);
      const Halves some = __builtin_convertvector(bits, Halves);
      std::memcpy(elements + i * sizeof(std::uint16_t), &some, sizeof(some));
    } else {
      const Unsigned bits = wide != wide ? 0x7fffffff + Unsigned{} : reinterpret_cast<Unsigned>(wide);
      std::memcpy(elements + i * sizeof(float), &bits, sizeof(bits));
    }
  }
}

void round_to_halves(float* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; i += OPGATE_COLUMNS) {
    Row wide;
    load(wide, numbers + i);
    Unsigned bits;
    narrow_to_half(bits, wide);
    widen_half(wide, bits);
    std::memcpy(numbers + i, &wide, sizeof(wide));
  }
}
