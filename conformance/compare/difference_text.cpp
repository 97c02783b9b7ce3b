// Describes differences in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "base/dtypes.h"
#include "compare/comparison.h"
#include "compare/elements.h"
#include "compare/float_format.h"
#include "layouts/geometry.h"

namespace opgate {
namespace {

// Reads the element's bytes as a little-endian number; of an element of 16 bytes, only the first 8.
uint64_t bits_of(const at::Tensor& host, int64_t linear) {
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(host.element_size());
  std::memcpy(&bits, static_cast<const std::byte*>(host.const_data_ptr()) + linear * host.element_size(),
              std::min(size, sizeof(bits)));
  return bits;
}

std::string floating_text(const at::Tensor& host, int64_t linear, const FloatFormat& format) {
  const Parts parts = visit_dtype(host.scalar_type(), [&]<class T>() -> Parts {
    if constexpr (FloatingElement<T>) return parts_of(static_cast<const T*>(host.const_data_ptr())[linear]);
    return {};
  });
  // This many digits tell any two neighbours of the format apart: 1 + ceil(precision * log10(2)).
  const int digits = 1 + static_cast<int>(std::ceil(format.precision * 0.30103));
  const auto text = [&](double part) { return fmt::format("{:.{}g}", part, digits); };
  if (host.is_complex()) return fmt::format("({}, {})", text(parts.real), text(parts.imag));
  if (std::isnan(parts.real)) return fmt::format("nan ({:#x})", bits_of(host, linear));
  return text(parts.real);
}

}  // namespace

std::string element_text(const at::Tensor& tensor, int64_t linear) {
  const at::Tensor host = on_host(tensor);
  const c10::ScalarType dtype = host.scalar_type();
  if (const auto format = float_format(dtype)) return floating_text(host, linear, *format);
  // The byte may be poison, and loading it as a bool would be undefined behaviour.
  if (dtype == c10::kBool) return bits_of(host, linear) != 0 ? "True" : "False";
  const bool wide_unsigned = dtype == c10::kUInt16 || dtype == c10::kUInt32 || dtype == c10::kUInt64;
  if (!c10::isIntegralType(dtype, false) && !wide_unsigned)
    return fmt::format("{:#x}", bits_of(host, linear));
  return visit_dtype(dtype, [&]<class T>() -> std::string {
    if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", static_cast<const T*>(host.const_data_ptr())[linear]);
    }
    return {};
  });
}

std::vector<std::string> neighbourhood(const Comparison& comparison, const at::Tensor& got,
                                       const at::Tensor& want) {
  if (comparison.first < 0 || got.dim() == 0) return {};
  constexpr int64_t kNeighbours = 3;
  const int64_t row = got.size(-1);
  const int64_t row_start = comparison.first / row * row;
  const int64_t begin = std::max(row_start, comparison.first - kNeighbours);
  const int64_t end = std::min(row_start + row, comparison.first + kNeighbours + 1);
  const auto line = [&](std::string_view label, const at::Tensor& tensor) {
    std::vector<std::string> elements;
    for (int64_t i = begin; i < end; ++i) {
      const std::string text = element_text(tensor, i);
      elements.push_back(i == comparison.first ? fmt::format(">{}<", text) : text);
    }
    return fmt::format("{} {}{}{}", label, begin > row_start ? "... " : "", fmt::join(elements, "  "),
                       end < row_start + row ? " ..." : "");
  };
  return {line("got ", got), line("want", want)};
}

std::string difference_text(const Comparison& comparison, const at::Tensor& got, const at::Tensor& want) {
  if (comparison.unlike) return *comparison.unlike;
  if (comparison.within()) return "no element differs";
  const double error = comparison.first_ulps;
  const std::string apart =
      error > 0 && std::isfinite(error)
          ? fmt::format(" ({:.3g} ulps{}{})", error,
                        comparison.ulps_of ? fmt::format(" of {}", dtype_name(*comparison.ulps_of)) : "",
                        comparison.by_inputs ? " at the inputs' scale" : "")
          : "";
  return fmt::format("{} of {} elements differ, the first at {}: got {}, want {}{}", comparison.differing,
                     comparison.total, index_text(unravel(comparison.first, got.sizes())),
                     element_text(got, comparison.first), element_text(want, comparison.first), apart);
}

}  // namespace opgate
