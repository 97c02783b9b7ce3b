// One list for each kind of part (domains, layouts, checks, gate rules, subcommands). A static object in
// each part's own file adds the part to its list, so that a new part needs no change to any other file.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace opgate {

/// Parts must have a member `name`. The list is sorted by name, because static objects are initialised in
/// no fixed order.
template <class Part>
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  bool add(Part part) {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), part,
                                        [](const Part& a, const Part& b) { return a.name < b.name; });
    parts_.insert(after, std::move(part));
    return true;
  }

  const Part* find(std::string_view name) const {
    const auto found = std::ranges::find(parts_, name, &Part::name);
    return found == parts_.end() ? nullptr : &*found;
  }

  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

}  // namespace opgate
