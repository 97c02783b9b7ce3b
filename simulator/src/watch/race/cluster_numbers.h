// Which blocks a scope includes. The blocks of a cluster have numbers one behind the other.
#pragma once

#include <cstdint>

#include "watch/annotations.h"

namespace opgate::simulator {

struct ClusterNumbers {
  std::uint32_t first = 1;  ///< block of the launch
  std::uint32_t size = 1;   ///< blocks of each cluster

  bool are_of_one_cluster(std::uint32_t a, std::uint32_t b) const {
    return a == b || (a >= first && b >= first && (a - first) / size == (b - first) / size);
  }

  /// Whether what a thread of one block does with this scope includes the threads of the other block. Of two
  /// blocks of a launch before this one, it is no longer known whether they were of one cluster.
  bool reaches(Scope scope, std::uint32_t a, std::uint32_t b) const {
    if (scope == Scope::device || a == b) return true;
    return scope == Scope::cluster && (are_of_one_cluster(a, b) || (a < first && b < first));
  }
};

}  // namespace opgate::simulator
