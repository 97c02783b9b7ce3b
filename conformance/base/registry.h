// One list a kind of part (domains, layouts, checks, paths, specs), filled by static objects in the part's
// own file: adding a part touches no other file.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace opgate {

/// Parts must have a member `name`; the list is sorted by it, whatever the order of initialisation.
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
