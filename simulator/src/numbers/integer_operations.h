// The arithmetic of integers as types, by which handlers are chosen.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "numbers/integer_semantics.h"

namespace opgate::simulator::integers {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::add(a, b);
  }
};

struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::sub(a, b);
  }
};

// Into the range of T.
template <class T, class Wide>
T clamped(Wide value) {
  if (value < Wide{std::numeric_limits<T>::min()}) return std::numeric_limits<T>::min();
  if (value > Wide{std::numeric_limits<T>::max()}) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

struct AddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamped<std::int32_t>(std::int64_t{a} + b);
  }
};

struct SubtractSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamped<std::int32_t>(std::int64_t{a} - b);
  }
};

struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::mul_lo(a, b);
  }
};

struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::mul_hi(a, b);
  }
};

struct MultiplyLowAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return semantics::mad_lo(a, b, c);
  }
};

struct MultiplyHighAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return semantics::mad_hi(a, b, c);
  }
};

struct MultiplyHighAddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamped<std::int32_t>(std::int64_t{semantics::mul_hi(a, b)} + c);
  }
};

struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::div(a, b);
  }
};

struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::rem(a, b);
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return semantics::abs(a);
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return semantics::neg(a);
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::min(a, b);
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::max(a, b);
  }
};

// `.relu`: what is negative becomes 0.
template <class Operation>
struct Relu {
  template <class T>
  T operator()(T a, T b) const {
    return semantics::max(Operation()(a, b), T{0});
  }
};

}  // namespace opgate::simulator::integers
