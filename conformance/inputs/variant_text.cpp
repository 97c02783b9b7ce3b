#include "inputs/variant_text.h"

#include "inputs/damage.h"
#include "layouts/layout.h"

namespace opgate {

bool is_undamaged(std::string_view variant) { return variant == kContiguous; }

bool is_rearranged(std::string_view variant) {
  if (is_bad_input(variant) || variant.find('=') == std::string_view::npos) return false;
  const std::string_view layout = arrangement_of(variant).layout;
  return layout != "0" && !layout.starts_with("empty-") && layout != "0-dim";
}

std::string_view sizes_without_elements(std::string_view variant) {
  constexpr std::string_view kBegin = "size", kEnd = "=0";
  if (!variant.starts_with(kBegin) || !variant.ends_with(kEnd)) return "";
  variant.remove_prefix(kBegin.size());
  variant.remove_suffix(kEnd.size());
  return variant.find_first_not_of("0123456789") == std::string_view::npos ? variant : "";
}

Arrangement arrangement_of(std::string_view variant) {
  const size_t equals = variant.find('=');
  if (equals == std::string_view::npos) return {"", variant};
  const std::string_view arguments = variant.substr(0, equals);
  return {arguments.substr(0, arguments.find('[')), variant.substr(equals + 1)};
}

}  // namespace opgate
