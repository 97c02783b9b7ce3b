// What the tool `race` remembers of an access.
#pragma once

#include <cstdint>

namespace opgate::simulator {

/// Blocks are numbered in the order in which they begin, from 1; `clock` is a time of the block. One is
/// kept for each few bytes of memory, and looked at for each access, so thread, site and strength share one
/// number.
struct AccessRecord {
  /// For whose threads the access is strong. The order is from few to many.
  enum Strength : std::uint32_t { weak, in_block, in_cluster, on_device, is_volatile };

  static constexpr std::uint32_t kSiteCount = std::uint32_t{1} << 19;

  std::uint32_t block = 0;  ///< 0: there was no access
  std::uint32_t clock = 0;
  std::uint32_t who_and_how = 0;  ///< 10 bits for the thread, 19 for the site, 3 for the strength

  static constexpr std::uint32_t who_and_how_of(std::uint32_t thread, std::uint32_t site, Strength strength) {
    return (thread & kThreads) | (site & kSites) << 10 | strength << 29;
  }

  std::uint32_t thread() const { return who_and_how & kThreads; }
  std::uint32_t site() const { return who_and_how >> 10 & kSites; }
  Strength strength() const { return static_cast<Strength>(who_and_how >> 29); }
  bool is_strong() const { return strength() != weak; }

  bool operator==(const AccessRecord&) const = default;

  /// These two do not compare the blocks.
  bool is_of_thread_of(const AccessRecord& other) const {
    return ((who_and_how ^ other.who_and_how) & kThreads) == 0;
  }
  bool is_of_warp_of(const AccessRecord& other) const {
    return ((who_and_how ^ other.who_and_how) & kWarps) == 0;
  }

 private:
  static constexpr std::uint32_t kThreads = 0x3ff;
  static constexpr std::uint32_t kWarps = 0x3e0;
  static constexpr std::uint32_t kSites = kSiteCount - 1;
};

}  // namespace opgate::simulator
