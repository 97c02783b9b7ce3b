#include "values/domain.h"

#include <ATen/EmptyTensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

namespace opgate {

std::string to_string(const Domain& domain) {
  if (domain.parameters.empty()) return domain.family;
  return fmt::format("{}({})", domain.family, fmt::join(domain.parameters, ","));
}

Domain domain_from_string(const std::string& text) {
  const auto open = text.find('(');
  Domain domain{text.substr(0, open), {}};
  if (open != std::string::npos) {
    const char* next = text.c_str() + open + 1;
    while (*next != '\0' && *next != ')') {
      char* end = nullptr;
      domain.parameters.push_back(std::strtod(next, &end));
      if (end == next)
        throw SpecError(fmt::format("'{}' is no value domain: a number is expected at '{}'", text, next));
      next = *end == ',' ? end + 1 : end;
    }
  }
  if (Registry<DomainFamily>::instance().find(domain.family) == nullptr) {
    throw SpecError(fmt::format("'{}' is no value domain that this OpGate knows", text));
  }
  return domain;
}

at::Tensor make_values(const Domain& domain, uint64_t key, at::IntArrayRef sizes, c10::ScalarType dtype) {
  const auto* family = Registry<DomainFamily>::instance().find(domain.family);
  if (family == nullptr) throw SpecError(fmt::format("no value domain is named '{}'", domain.family));
  const at::Tensor values = at::detail::empty_cpu(sizes, dtype);
  family->fill(domain.parameters, key, values);
  return values;
}

}  // namespace opgate
