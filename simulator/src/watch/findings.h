// The findings of the tools that watch a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <opgate_sim/finding.h>

namespace opgate::simulator {

/// Findings of the same two instructions of a kernel are one. At most `kMost` are kept.
class Findings {
 public:
  static constexpr std::size_t kMost = 100;
  /// In place of a site, for what has one cause wherever the kernel shows it.
  static constexpr std::uint32_t kEverySite = ~std::uint32_t{0};

  /// Whether a finding is new, so that it must be described with `add`. Otherwise it is counted here. The
  /// sites number the instructions of a kernel.
  bool is_new(Finding::Kind kind, const std::string& kernel, std::uint32_t site,
              std::uint32_t other_site = 0);

  /// Keeps the finding about which `is_new` was asked last.
  void add(Finding finding);

  const std::vector<Finding>& all() const { return all_; }

  /// How many there were that are not kept, because there are too many.
  std::uint64_t dropped() const { return dropped_; }

  /// Forgets what it gives.
  std::vector<Finding> take();

 private:
  using Key = std::tuple<Finding::Kind, std::string, std::uint32_t, std::uint32_t>;

  std::vector<Finding> all_;
  std::map<Key, std::size_t> known_;  ///< index in `all_`
  std::uint64_t dropped_ = 0;
};

}  // namespace opgate::simulator
