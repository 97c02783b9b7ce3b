// Adds products of integers of eight bits. This is no header: matrix_rows.h includes it.

void widen_integers(Type type, const unsigned char* elements, std::size_t count, std::int32_t* to) {
  if (type == Type::s8) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::int8_t>(elements[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = elements[i];
  }
}

// 32 bits hold the products of a row. Sums wrap, or become the nearest number that there is.
void add_integers(const Product& product, const std::int32_t* a, const std::int32_t* b, std::size_t columns,
                  std::int32_t* sums) {
  for (std::size_t row = 0; row < product.m; ++row, a += product.k) {
    for (std::size_t first = 0; first < columns; first += OPGATE_COLUMNS, sums += OPGATE_COLUMNS) {
      Unsigned total{};
#pragma GCC unroll 4
      for (std::size_t k = 0; k < product.k; ++k) {
        Unsigned of_row;
        load(of_row, b + k * columns + first);
        total += of_row * static_cast<std::uint32_t>(a[k]);
      }
      Unsigned before;
      load(before, sums);
      Ints sum = reinterpret_cast<Ints>(before + total);
      if (product.saturates) {
        const Ints overflow = reinterpret_cast<Ints>((before ^ reinterpret_cast<Unsigned>(sum)) &
                                                     (total ^ reinterpret_cast<Unsigned>(sum)));
        const Ints limit = std::numeric_limits<std::int32_t>::max() ^ (reinterpret_cast<Ints>(before) >> 31);
        sum = overflow < 0 ? limit : sum;
      }
      std::memcpy(sums, &sum, sizeof(sum));
    }
  }
}
