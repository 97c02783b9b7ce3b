#include "plan/case_parts.h"

#include <array>
#include <optional>

#include "base/errors.h"

namespace opgate {
namespace {

template <size_t N>
std::optional<std::array<std::string_view, N>> split(std::string_view id) {
  std::array<std::string_view, N> parts;
  for (size_t i = 0; i < N; ++i) {
    const auto slash = id.find('/');
    if ((slash == std::string_view::npos) != (i + 1 == N)) return std::nullopt;
    parts[i] = id.substr(0, slash);
    if (i + 1 < N) id.remove_prefix(slash + 1);
  }
  return parts;
}

}  // namespace

CaseParts parts_of_case(std::string_view id) {
  const auto parts = split<6>(id);
  if (!parts)
    throw setup_error(
        "'{}' is not the id of a case, OP/DTYPE/SAMPLE/VARIANT/DEVICE/CHECK; see `opgate list cases`", id);
  const auto& [op, dtype, sample, variant, device, check] = *parts;
  return {op, dtype, sample, variant, device, check, id.substr(0, id.size() - check.size() - 1)};
}

CaseParts parts_of_call(std::string_view id) {
  const auto parts = split<5>(id);
  if (!parts) throw setup_error("'{}' is not the id of a call, OP/DTYPE/SAMPLE/VARIANT/DEVICE", id);
  const auto& [op, dtype, sample, variant, device] = *parts;
  return {op, dtype, sample, variant, device, {}, id};
}

}  // namespace opgate
