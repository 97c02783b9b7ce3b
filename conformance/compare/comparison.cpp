#include "compare/comparison.h"

#include <c10/util/complex.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "base/dtypes.h"
#include "compare/float_format.h"
#include "layouts/geometry.h"

namespace opgate {
namespace {

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.resolve_conj().resolve_neg().to(c10::kCPU).contiguous();
}

const std::byte* bytes_of(const at::Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.const_data_ptr());
}

void note(Comparison& result, int64_t linear, bool differs, double error) {
  if (differs && result.differing++ == 0) result.first = linear;
  if (error > result.worst_ulps) {
    result.worst_ulps = error;
    result.worst = linear;
  }
}

// The parts of one element as doubles: one for a real dtype, two for a complex one. Exact for every floating
// dtype.
template <class T>
int parts_of(const T& value, double (&parts)[2]) {
  if constexpr (c10::is_complex<T>::value) {
    parts[0] = static_cast<double>(value.real());
    parts[1] = static_cast<double>(value.imag());
    return 2;
  } else {
    parts[0] = static_cast<double>(value);
    return 1;
  }
}

int parts_at(const at::Tensor& host, int64_t linear, double (&parts)[2]) {
  return visit_dtype(host.scalar_type(), [&]<class T>() {
    return parts_of(static_cast<const T*>(host.const_data_ptr())[linear], parts);
  });
}

double element_error(const at::Tensor& got, const at::Tensor& want, int64_t linear,
                     const FloatFormat& format) {
  double got_parts[2];
  double want_parts[2];
  const int count = parts_at(got, linear, got_parts);
  parts_at(want, linear, want_parts);
  double worst = 0;
  for (int part = 0; part < count; ++part) {
    worst = std::max(worst, ulp_error(got_parts[part], want_parts[part], format));
  }
  return worst;
}

Comparison compare_bits(const at::Tensor& got, const at::Tensor& want) {
  Comparison result;
  result.total = got.numel();
  if (std::memcmp(got.const_data_ptr(), want.const_data_ptr(), got.nbytes()) == 0) return result;
  const auto format = float_format(got.scalar_type());
  const size_t size = got.element_size();
  for (int64_t i = 0; i < result.total; ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(bytes_of(got) + at, bytes_of(want) + at, size) == 0) continue;
    note(result, i, true, format ? element_error(got, want, i, *format) : 0);
  }
  return result;
}

Comparison compare_ulps(const at::Tensor& got, const at::Tensor& want, const FloatFormat& format,
                        double bound) {
  Comparison result;
  result.total = got.numel();
  for (int64_t i = 0; i < result.total; ++i) {
    const double error = element_error(got, want, i, format);
    note(result, i, !(error <= bound) || std::isinf(error), error);
  }
  return result;
}

// Every value of narrow's dtype is one of wide's.
bool holds_all_of(const at::Tensor& wide, const at::Tensor& narrow) {
  const auto outer = float_format(wide.scalar_type());
  const auto inner = float_format(narrow.scalar_type());
  return outer && inner && wide.is_complex() == narrow.is_complex() && outer->precision >= inner->precision &&
         outer->min_exponent <= inner->min_exponent;
}

}  // namespace

Comparison compare(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy) {
  Comparison result;
  if (got.sizes() != want.sizes()) {
    result.unlike = fmt::format("shape {}, not {}", index_text(got.sizes()), index_text(want.sizes()));
    return result;
  }
  const auto format = float_format(got.scalar_type());
  const bool in_ulps = format && !accuracy.exact;
  const bool wider = in_ulps && holds_all_of(want, got);
  if (got.scalar_type() != want.scalar_type() && !wider) {
    result.unlike =
        fmt::format("dtype {}, not {}", dtype_name(got.scalar_type()), dtype_name(want.scalar_type()));
    return result;
  }
  const at::Tensor host_got = on_host(got);
  const at::Tensor host_want = on_host(want);
  return in_ulps ? compare_ulps(host_got, host_want, *format, accuracy.ulps)
                 : compare_bits(host_got, host_want);
}

std::string element_text(const at::Tensor& tensor, int64_t linear) {
  const at::Tensor host = on_host(tensor);
  const auto format = float_format(host.scalar_type());
  if (!format) {
    return visit_dtype(host.scalar_type(), [&]<class T>() -> std::string {
      if constexpr (std::is_same_v<T, bool>) {
        return bytes_of(host)[linear] != std::byte{0} ? "True"
                                                      : "False";  // a gap byte is no valid bool to load
      } else if constexpr (std::is_integral_v<T>) {
        return fmt::format("{}", static_cast<const T*>(host.const_data_ptr())[linear]);
      } else {
        return "?";
      }
    });
  }
  double parts[2];
  const int count = parts_at(host, linear, parts);
  // As many digits as tell two neighbours of the format apart: 1 + ceil(precision * log10(2)).
  const int digits = 1 + static_cast<int>(std::ceil(format->precision * 0.30103));
  const auto text = [&](double part) { return fmt::format("{:.{}g}", part, digits); };
  if (count == 2) return fmt::format("({}, {})", text(parts[0]), text(parts[1]));
  if (!std::isnan(parts[0])) return text(parts[0]);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes_of(host) + linear * host.element_size(), host.element_size());
  return fmt::format("nan ({:#x})", bits);
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
  double error = 0;
  if (const auto format = float_format(got.scalar_type())) {
    error = element_error(on_host(got), on_host(want), comparison.first, *format);
  }
  const std::string apart = error > 0 && std::isfinite(error) ? fmt::format(" ({:.3g} ulps)", error) : "";
  return fmt::format("{} of {} elements differ, the first at {}: got {}, want {}{}", comparison.differing,
                     comparison.total, index_text(unravel(comparison.first, got.sizes())),
                     element_text(got, comparison.first), element_text(want, comparison.first), apart);
}

}  // namespace opgate
