#include "simulator/numbers/matrix_product.h"

#include <algorithm>
#include <cmath>

#include "simulator/numbers/values.h"

namespace opgate::simulator {
namespace matrix_product {

// Rows have a multiple of so many elements: compilers compute as many sums at once, where they know the
// number.
constexpr std::size_t kSideBySide = 8;

template <class Numbers, class Step>
void add_products(const Product& product, Matrices<Numbers>& matrices, Step step) {
  for (std::size_t i = 0; i < product.m; ++i) {
    for (std::size_t first = 0; first < product.n; first += kSideBySide) {
      std::array<typename Numbers::Sum, kSideBySide> sums;
      auto* const row = matrices.sums.data() + i * product.n + first;
      std::copy_n(row, kSideBySide, sums.data());
      for (std::size_t k = 0; k < product.k; ++k) {
        const auto a = matrices.a[i * product.k + k];
        const auto* const b = matrices.b.data() + k * product.n + first;
        for (std::size_t j = 0; j < kSideBySide; ++j) sums[j] = step(sums[j], a, b[j]);
      }
      std::copy_n(sums.data(), kSideBySide, row);
    }
  }
}

}  // namespace matrix_product

void multiply(const Product& product, Matrices<Doubles>& matrices) {
  matrix_product::add_products(product, matrices, [](double sum, double a, double b) {
    // Of several NaNs, that of `b` is passed on, and then that of the sum.
    if (b != b) return quieted(b);
    return sum != sum ? quieted(sum) : std::fma(a, b, sum);
  });
}

void multiply(const Product& product, Matrices<Integers>& matrices) {
  matrix_product::add_products(product, matrices, [](std::int64_t sum, std::int32_t a, std::int32_t b) {
    return sum + std::int64_t{a} * b;
  });
}

}  // namespace opgate::simulator
