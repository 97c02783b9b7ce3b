#include "layouts/layout.h"

#include <algorithm>

namespace opgate {

std::vector<OfferedPlacement> placements(c10::IntArrayRef sizes) {
  std::vector<OfferedPlacement> offered;
  for (const Layout& layout : Registry<Layout>::instance().parts()) {
    std::vector<Placement> own;
    layout.offer(sizes, own);
    for (Placement& placement : own) offered.push_back({&layout, std::move(placement)});
  }
  std::ranges::stable_partition(offered, [](const auto& o) { return o.placement.name == kContiguous; });
  return offered;
}

std::optional<OfferedPlacement> find_placement(c10::IntArrayRef sizes, std::string_view name) {
  for (const Layout& layout : Registry<Layout>::instance().parts()) {
    if (!name.starts_with(layout.name)) continue;  // saves time: this runs for each call
    std::vector<Placement> own;
    layout.offer(sizes, own);
    for (Placement& placement : own) {
      if (placement.name == name) return OfferedPlacement{&layout, std::move(placement)};
    }
  }
  return std::nullopt;
}

}  // namespace opgate
