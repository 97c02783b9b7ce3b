#include "compare/value_summary.h"

#include <ATen/Functions.h>
#include <c10/util/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "compare/agreement.h"
#include "compare/float_format.h"

namespace opgate {
namespace {

constexpr size_t kSummaryDigits = 16;   // hexadecimal digits of a digest: a change is missed once in 2^64
constexpr double kPrintedError = 1e-6;  // of to_text(), which prints seven digits
constexpr uint64_t kOtherSigns = 0x9E3779B97F4A7C15;

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014),
// whose lowest bit is a random sign for each index, the same on every machine.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

double with_sign(double x, uint64_t random) { return (random & 1) != 0 ? -x : x; }

}  // namespace

ValueSummary summary_of(const at::Tensor& tensor) {
  ValueSummary summary;
  // Integers, bits, and dtypes whose elements hold several numbers.
  if (!float_format(tensor.scalar_type())) {
    summary.exact = digest({tensor}).substr(0, kSummaryDigits);
    return summary;
  }
  at::Tensor values = tensor.detach().cpu().resolve_conj().resolve_neg();
  if (values.is_complex()) values = at::view_as_real(values.to(at::kComplexDouble));
  values = values.to(at::kDouble).contiguous();
  const double* elements = values.const_data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double x = elements[i];
    if (std::isnan(x)) {
      ++summary.nans;
    } else if (std::isinf(x)) {
      ++(x > 0 ? summary.positive_infinities : summary.negative_infinities);
    } else {
      const double compressed = std::asinh(x);
      const auto index = static_cast<uint64_t>(i);
      ++summary.count;
      summary.magnitude += std::abs(compressed);
      summary.sums[0] += compressed;
      summary.sums[1] += with_sign(compressed, mixed(index + 1));
      summary.sums[2] += with_sign(compressed, mixed(index + kOtherSigns));
    }
  }
  return summary;
}

std::string to_text(const ValueSummary& summary) {
  if (!summary.exact.empty()) return summary.exact;
  std::string text = std::to_string(summary.count);
  for (const auto& [name, number] : {std::pair{"nan", summary.nans},
                                     {"inf", summary.positive_infinities},
                                     {"-inf", summary.negative_infinities}}) {
    if (number > 0) text += fmt::format(", {} {}", number, name);
  }
  return fmt::format("{}: {:.7g} {:.7g} {:.7g} {:.7g}", text, summary.magnitude, summary.sums[0],
                     summary.sums[1], summary.sums[2]);
}

std::optional<ValueSummary> summary_from(std::string_view text) {
  ValueSummary summary;
  const auto colon = text.find(": ");
  if (colon == std::string_view::npos) {
    const bool is_digest =
        text.size() == kSummaryDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!is_digest) return std::nullopt;
    summary.exact = text;
    return summary;
  }
  std::string counted(text.substr(0, colon));
  std::ranges::replace(counted, ',', ' ');
  std::istringstream counts(counted);
  std::istringstream sums{std::string(text.substr(colon + 2))};
  if (!(counts >> summary.count)) return std::nullopt;
  int64_t number = 0;
  for (std::string name; counts >> number >> name;) {
    if (name == "nan")
      summary.nans = number;
    else if (name == "inf")
      summary.positive_infinities = number;
    else if (name == "-inf")
      summary.negative_infinities = number;
    else
      return std::nullopt;
  }
  sums >> summary.magnitude;
  for (double& sum : summary.sums) sums >> sum;
  return sums.fail() ? std::nullopt : std::optional(summary);
}

bool may_be_same_values(const ValueSummary& one, const ValueSummary& other, double error) {
  if (!one.exact.empty() || !other.exact.empty()) return one.exact == other.exact;
  if (one.count != other.count || one.nans != other.nans ||
      one.positive_infinities != other.positive_infinities ||
      one.negative_infinities != other.negative_infinities)
    return false;
  // The derivative of asinh is at most 1 / max(1, |x|), so each term is off by no more than `error`.
  const double magnitude = std::max(one.magnitude, other.magnitude);
  const double allowed = error * static_cast<double>(one.count) + kPrintedError * magnitude;
  const auto near = [&](double a, double b) { return std::abs(a - b) <= allowed; };
  return near(one.magnitude, other.magnitude) && std::ranges::equal(one.sums, other.sums, near);
}

}  // namespace opgate
