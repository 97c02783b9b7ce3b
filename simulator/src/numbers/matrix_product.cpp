#include "numbers/matrix_product.h"

#include <cmath>
#include <cstring>

#include "numbers/matrix_sums.h"
#include "numbers/values.h"

namespace opgate::simulator {
namespace matrix_product {

template <class Number>
using Factors = std::array<Number, kMostFactors>;

void multiply_doubles(const Product& product, Matrices& matrices) {
  constexpr std::size_t kSideBySide = 8;  // compilers compute as many sums at once
  Factors<double> a;
  Factors<double> b;
  std::memcpy(a.data(), matrices.a.data(), sizeof(double) * product.m * product.k);
  std::memcpy(b.data(), matrices.b.data(), sizeof(double) * product.k * product.n);
  for (std::size_t i = 0; i < product.m; ++i) {
    for (std::size_t first = 0; first < product.n; first += kSideBySide) {
      std::array<double, kSideBySide> sums;
      unsigned char* const place = matrices.sums.data() + (i * product.n + first) * sizeof(double);
      std::memcpy(sums.data(), place, sizeof(sums));
      for (std::size_t k = 0; k < product.k; ++k) {
        for (std::size_t j = 0; j < kSideBySide; ++j) {
          const double factor = b[k * product.n + first + j];
          // Among several NaNs, that of `b` is passed on, and then that of the sum.
          if (factor != factor) {
            sums[j] = quieted(factor);
          } else {
            sums[j] = sums[j] != sums[j] ? quieted(sums[j]) : std::fma(a[i * product.k + k], factor, sums[j]);
          }
        }
      }
      std::memcpy(place, sums.data(), sizeof(sums));
    }
  }
}

void multiply_integers(const Product& product, Matrices& matrices) {
  alignas(64) Factors<std::int32_t> a;
  alignas(64) Factors<std::int32_t> b;
  alignas(64) std::array<std::int32_t, kMostSums> sums;
  const std::size_t bytes = sizeof(std::int32_t) * product.m * product.n;
  widen_elements(product.a, matrices.a.data(), std::size_t{product.m} * product.k, a.data());
  widen_elements(product.b, matrices.b.data(), std::size_t{product.k} * product.n, b.data());
  std::memcpy(sums.data(), matrices.sums.data(), bytes);
  add_products_of_integers(product, a.data(), b.data(), product.n, sums.data());
  std::memcpy(matrices.sums.data(), sums.data(), bytes);
}

void multiply_singles(const Product& product, Matrices& matrices) {
  alignas(64) Factors<float> a;
  alignas(64) Factors<float> b;
  alignas(64) std::array<float, kMostSums> sums;
  const std::size_t count = std::size_t{product.m} * product.n;
  widen_elements(product.a, matrices.a.data(), std::size_t{product.m} * product.k, a.data());
  widen_elements(product.b, matrices.b.data(), std::size_t{product.k} * product.n, b.data());
  widen_elements(product.c, matrices.sums.data(), count, sums.data());
  ColumnsOfProduct(Multiplier::of_warp, product, b.data(), product.n).multiply(a.data(), sums.data());
  narrow_elements(product.d, sums.data(), count, matrices.sums.data());
}

}  // namespace matrix_product

void multiply(const Product& product, Matrices& matrices) {
  using namespace matrix_product;
  if (product.d == Type::f64) {
    multiply_doubles(product, matrices);
  } else if (product.d == Type::s32) {
    multiply_integers(product, matrices);
  } else {
    multiply_singles(product, matrices);
  }
}

}  // namespace opgate::simulator
