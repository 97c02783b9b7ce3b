// What the tool `race` remembers of an access.
#pragma once

#include <cstdint>

namespace opgate::simulator {

/// Blocks are numbered in the order in which they begin, from 1; `clock` is a time of the block. One is kept
/// for each few bytes of memory, and looked at for each access, so thread, site and flags share one number.
struct AccessRecord {
  static constexpr std::uint32_t kStrong = std::uint32_t{1} << 29;
  static constexpr std::uint32_t kVolatile = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kSiteCount = std::uint32_t{1} << 19;
  static constexpr std::uint32_t kInBlock = std::uint32_t{1}
                                            << 31;  ///< strong for the threads of its block only

  std::uint32_t block = 0;  ///< 0: there was no access
  std::uint32_t clock = 0;
  std::uint32_t who_and_how = 0;  ///< 10 bits for the thread, 19 for the site, and the flags

  static constexpr std::uint32_t who_and_how_of(std::uint32_t thread, std::uint32_t site,
                                                std::uint32_t flags) {
    return (thread & kThreads) | (site & kSites) << 10 | flags;
  }

  std::uint32_t thread() const { return who_and_how & kThreads; }
  std::uint32_t site() const { return who_and_how >> 10 & kSites; }
  bool has(std::uint32_t flag) const { return (who_and_how & flag) != 0; }

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
