#include "judging/all_checks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/choices.h"
#include "base/errors.h"

namespace opgate {

std::vector<Check> native_checks() { return Registry<Check>::instance().parts(); }

std::vector<Check> all_checks(const nlohmann::json& described) {
  std::vector<Check> checks = native_checks();
  for (const nlohmann::json& check : described) checks.push_back(check_from_json(check));
  std::ranges::sort(checks, {}, &Check::name);
  return checks;
}

std::vector<std::string> ids_of(const std::vector<Check>& checks, bool Check::*flag) {
  std::vector<std::string> ids;
  for (const Check& check : checks)
    if (flag == nullptr || check.*flag) ids.push_back(check.name);
  return ids;
}

const Check& find_check(const std::vector<Check>& checks, std::string_view id) {
  const auto found = std::ranges::find(checks, id, &Check::name);
  if (found != checks.end()) return *found;
  throw setup_error("no check is named '{}'; {}", id, choices_for(id, ids_of(checks)));
}

}  // namespace opgate
