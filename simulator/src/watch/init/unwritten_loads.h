// Loads of memory that nothing has written, from where they are until their values matter. A right kernel may
// load such a value and throw it away, so that a load by itself is no finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <opgate_sim/finding.h>

namespace opgate::simulator {

/// Bits of a value, or bytes of memory, that came from unwritten memory, a bit for each, and by which loads:
/// a set that UnwrittenLoads knows; 0 if no load is known, because nothing has read the memory.
struct Unwritten {
  std::uint64_t bits = 0;
  std::uint32_t loads = 0;
};

/// Some bytes of a store or of a copy.
struct CarriedBytes {
  std::uint32_t offset = 0;  ///< of the first one
  Unwritten unwritten;
};

class UnwrittenLoads {
 public:
  /// A launch begins, whose loads are others than those of the launches before.
  void begin_launch() { of_launch_.clear(); }

  /// The instruction with this number has loaded unwritten memory. `describe` gives the finding that this
  /// will be if the value matters; it is called for the first such load of the launch. Gives the set of this
  /// load.
  std::uint32_t meet(std::uint32_t site, const std::function<Finding()>& describe);

  /// The set of a load that was met before in this launch; 0 if it was not.
  std::uint32_t met(std::uint32_t site) const {
    const auto known = of_launch_.find(site);
    return known == of_launch_.end() ? 0 : known->second;
  }

  /// The set of the loads of both sets.
  std::uint32_t joined(std::uint32_t some, std::uint32_t others);

  /// Whether some of the loads are not findings yet.
  bool may_report(std::uint32_t loads) const { return loads != 0 && unreported_[loads]; }

  /// The values matter: their loads become findings, with the place where they matter.
  void use(std::uint32_t loads, const FindingPlace& where);

  /// Calls `change` with the finding of each load of this launch, before it is taken.
  void for_each_of_launch(const std::function<void(Finding&)>& change);

  /// What has become a finding since the last time.
  std::vector<Finding> take();

 private:
  struct Load {
    Finding finding;
    bool is_reported = false;
  };

  std::uint32_t add_set(std::vector<std::uint32_t> loads);

  std::vector<Load> loads_;
  std::vector<std::vector<std::uint32_t>> sets_{{}};  ///< indices of loads, in order; the first set is empty
  std::vector<bool> unreported_{false};               ///< of each set
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_;
  std::map<std::uint32_t, std::uint32_t> of_launch_;  ///< sets of one load, by their instructions
  std::vector<std::uint32_t> to_take_;
};

}  // namespace opgate::simulator
