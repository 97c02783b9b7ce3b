#include "judging/obstacle.h"

#include "judging/check.h"
#include "spec/spec.h"

namespace opgate {

std::optional<Obstacle> obstacle_to(const Spec& spec, const Check& check, const Circumstances& known) {
  if (known.on_device && (check.needs_device || !known.on_device->calls_alone)) return known.on_device;
  if (!check.missing.empty()) return Obstacle{Obstacle::Kind::not_installed, check.missing};
  if (check.needs_fake && spec.lacks_fake) {
    return Obstacle{Obstacle::Kind::no_fake_kernel, "there is no fake kernel to check; see fake.exists"};
  }
  if (known.in_worker != nullptr && check.obstacle != nullptr) {
    if (auto obstacle = check.obstacle(*known.in_worker)) return obstacle;
  }
  if (known.no_package) return Obstacle{Obstacle::Kind::no_package, *known.no_package};
  return std::nullopt;
}

}  // namespace opgate
