#include "plan/patterns.h"

#include <fnmatch.h>

#include <algorithm>
#include <ranges>

#include "base/check_group.h"
#include "base/choices.h"
#include "base/errors.h"

namespace opgate {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool selects(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const std::string& p) { return matches(p, text); });
}

bool selects_check(const std::vector<std::string>& patterns, const std::string& check) {
  return selects(patterns, check) || selects(patterns, std::string(group_of_check(check)));
}

void demand_matches(std::string_view what, const std::vector<std::string>& patterns, const Names& names) {
  for (const std::string& pattern : patterns) {
    const auto named = [&](const auto& part) {
      return matches(pattern, part.first) || matches(pattern, part.second);
    };
    if (std::ranges::any_of(names, named)) continue;
    const auto all = std::views::keys(names);
    throw setup_error("no {} matches '{}'; {}", what, pattern,
                      choices_for(pattern, {all.begin(), all.end()}));
  }
}

void demand_matches(std::string_view what, const std::vector<std::string>& patterns,
                    const std::vector<std::string>& names) {
  Names alone;
  for (const std::string& name : names) alone[name];
  demand_matches(what, patterns, alone);
}

}  // namespace opgate
