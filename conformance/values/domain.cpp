#include "values/domain.h"

#include <ATen/EmptyTensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/errors.h"

namespace opgate {
namespace {

// Parses the whole text as a number, independently of the locale; accepts "inf", "nan" and "-0".
std::optional<double> number_from(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

const DomainFamily& find_family(const Domain& domain) {
  const auto* family = Registry<DomainFamily>::instance().find(domain.family);
  if (family == nullptr) throw spec_error("no value domain is named '{}'", domain.family);
  const std::vector<size_t>& counts = family->parameter_counts;
  if (!counts.empty() && std::ranges::find(counts, domain.parameters.size()) == counts.end()) {
    throw spec_error("'{}': the domain {} takes {} parameters", to_string(domain), domain.family,
                     fmt::join(counts, " or "));
  }
  return *family;
}

std::string to_string(const Domain& domain) {
  if (domain.parameters.empty()) return domain.family;
  return fmt::format("{}({})", domain.family, fmt::join(domain.parameters, ","));
}

Domain domain_from_string(const std::string& text) {
  const size_t open = text.find('(');
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  Domain domain{text.substr(0, open), {}};
  if (domain.family.empty() || !std::ranges::all_of(domain.family, is_word) ||
      (open != std::string::npos && text.back() != ')')) {
    throw spec_error("'{}' is not a value domain; write it as in uniform or uniform(0,1)", text);
  }
  if (open != std::string::npos) {
    std::vector<double> numbers;
    std::string_view rest = std::string_view(text).substr(open + 1, text.size() - open - 2);
    for (bool more = true; more;) {
      const size_t comma = rest.find(',');
      const auto number = number_from(rest.substr(0, comma));
      if (!number) {
        throw spec_error("'{}': '{}' is not a number", text, rest.substr(0, comma));
      }
      numbers.push_back(*number);
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
    }
    domain.parameters = std::move(numbers);
  }
  find_family(domain);
  return domain;
}

at::Tensor make_values(const Domain& domain, uint64_t key, at::IntArrayRef sizes, c10::ScalarType dtype) {
  const DomainFamily& family = find_family(domain);
  const at::Tensor values = at::detail::empty_cpu(sizes, dtype);
  family.fill(domain.parameters, key, values);
  return values;
}

bool can_hold_values(const Domain& domain, c10::ScalarType dtype) {
  const DomainFamily& family = find_family(domain);
  return family.exists == nullptr || family.exists(domain.parameters, dtype);
}

}  // namespace opgate
