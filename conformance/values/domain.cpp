#include "values/domain.h"

#include <ATen/EmptyTensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace opgate {
namespace {

const DomainFamily& known_family(const Domain& domain) {
  const auto* family = Registry<DomainFamily>::instance().find(domain.family);
  if (family == nullptr) throw SpecError(fmt::format("no value domain is named '{}'", domain.family));
  if (std::ranges::find(family->parameter_counts, domain.parameters.size()) ==
      family->parameter_counts.end()) {
    throw SpecError(fmt::format("'{}': the domain {} takes {} parameters", to_string(domain), domain.family,
                                fmt::join(family->parameter_counts, " or ")));
  }
  return *family;
}

}  // namespace

std::string to_string(const Domain& domain) {
  if (domain.parameters.empty()) return domain.family;
  return fmt::format("{}({})", domain.family, fmt::join(domain.parameters, ","));
}

Domain domain_from_string(const std::string& text) {
  static const std::regex kForm(R"((\w+)(?:\(([^()]*)\))?)");
  std::smatch match;
  if (!std::regex_match(text, match, kForm)) {
    throw SpecError(
        fmt::format("'{}' is no value domain; it is written as in uniform or uniform(0,1)", text));
  }
  Domain domain{match[1], {}};
  std::istringstream numbers(match[2]);
  for (std::string number; std::getline(numbers, number, ',');) {
    char* end = nullptr;
    domain.parameters.push_back(std::strtod(number.c_str(), &end));
    if (number.empty() || *end != '\0') throw SpecError(fmt::format("'{}': '{}' is no number", text, number));
  }
  known_family(domain);
  return domain;
}

at::Tensor make_values(const Domain& domain, uint64_t key, at::IntArrayRef sizes, c10::ScalarType dtype) {
  const DomainFamily& family = known_family(domain);
  const at::Tensor values = at::detail::empty_cpu(sizes, dtype);
  family.fill(domain.parameters, key, values);
  return values;
}

}  // namespace opgate
