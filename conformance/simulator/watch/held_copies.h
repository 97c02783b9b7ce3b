// Elements that a block changes in place while several of its warps hold copies of them, as Triton's compiler
// lays out small tensors: each warp loads the element, and one of them stores what it has become. A warp that
// loads it late gets the new value. That is a mistake only if something depends on what it has loaded, which
// two repetitions of the launch show: one in which the other warps load the values before the stores, and one
// in which they load those after them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "simulator/machine/launch_observer.h"
#include "simulator/reports/finding.h"
#include "simulator/watch/annotations.h"

namespace opgate::simulator {

class HeldCopies {
 public:
  /// The two values of an element. Accesses have at most 16 bytes.
  struct Changed {
    std::array<unsigned char, 16> before{};
    std::array<unsigned char, 16> after{};
    std::uint32_t warp = 0;  ///< which has stored
  };
  enum class Value : std::uint8_t { before, after };

  /// A thread is about to store other bytes than the element has.
  void note_change(std::uint64_t block, std::uint64_t address, const Changed& change) {
    changed_[{block, address}] = change;
  }
  const Changed* find(std::uint64_t block, std::uint64_t address) const {
    const auto found = changed_.find({block, address});
    return found == changed_.end() ? nullptr : &found->second;
  }

  /// Whether no race of copies of these two sites is known.
  bool is_new_race(std::uint32_t site, std::uint32_t other) const {
    return !races_.contains(std::minmax(site, other));
  }
  void add_race(std::uint32_t site, std::uint32_t other, Finding race) {
    races_.emplace(std::minmax(site, other), std::move(race));
  }
  /// By their sites, the lower one first.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, Finding>& races() const { return races_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Changed>
      changed_;  // by the block's index and the address
  std::map<std::pair<std::uint32_t, std::uint32_t>, Finding> races_;
};

/// Executes a launch in which the warps that do not store an element load one of its two values.
class RepeatedWithCopies final : public LaunchObserver {
 public:
  RepeatedWithCopies(const HeldCopies& copies, HeldCopies::Value value, const Extent& grid)
      : copies_(copies), value_(value), grid_(grid) {}

  std::unique_ptr<BlockObserver> watch_block() override;
  void begin_memory(std::uint64_t /*address*/, std::size_t /*bytes*/) override {}

 private:
  const HeldCopies& copies_;
  HeldCopies::Value value_;
  Extent grid_;
};

}  // namespace opgate::simulator
