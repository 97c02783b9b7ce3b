// Operations on integers of any width, as PTX defines them where C++ does not.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace opgate::simulator::integers {

// Narrower unsigned types would be promoted to `int`, in which a product can overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
using Twice =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
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
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((Twice<T>{a} * b) >> (8 * sizeof(T)));
  }
};

template <class Multiply>
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add()(Multiply()(a, b), c);
  }
};

struct MultiplyHighAddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamped<std::int32_t>(std::int64_t{MultiplyHigh()(a, b)} + c);
  }
};

// PTX does not define division by zero. An H100 gives all bits set, as quotient and as remainder.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return Subtract()(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};

struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return T{0};
    }
    return static_cast<T>(a % b);
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return a < T{0} ? Subtract()(T{0}, a) : a;
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return Subtract()(T{0}, a);
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// `.relu`: what is negative becomes 0.
template <class Operation>
struct Relu {
  template <class T>
  T operator()(T a, T b) const {
    return Maximum()(Operation()(a, b), T{0});
  }
};

}  // namespace opgate::simulator::integers
