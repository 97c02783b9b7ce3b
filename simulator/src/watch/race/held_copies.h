// Elements that a block changes in place while several of its warps hold copies of them, as Triton's compiler
// lays out small tensors: each warp loads the element, and one of them stores what it has become. A warp that
// loads it late gets the new value. That is a mistake only if something depends on what it has loaded, which
// repetitions of the launch show: one that records who changes the elements that have raced, one in which the
// other warps load the values before the stores, and one in which they load those after them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <opgate_sim/finding.h>
#include "machine/launches/launch_observer.h"
#include "watch/annotations.h"

namespace opgate::simulator {

class HeldCopies {
 public:
  /// An element in global memory, by the linear index of the block that accesses it.
  using Element = std::pair<std::uint64_t, std::uint64_t>;

  /// The two values of an element. Accesses have at most 16 bytes.
  struct Changed {
    std::array<unsigned char, 16> before{};
    std::array<unsigned char, 16> after{};
    std::uint32_t warp = 0;  ///< which has stored
  };
  enum class Value : std::uint8_t { before, after };

  /// A load and a store of the element have raced. `finding` makes the report, and is called for the first
  /// race of the two sites alone.
  template <class MakeFinding>
  void add_race(std::uint32_t site, std::uint32_t other, Element element, MakeFinding finding) {
    raced_.insert(element);
    const auto [race, is_new] = races_.try_emplace(std::minmax(site, other));
    if (is_new) race->second = finding();
  }
  /// By their sites, the lower one first.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, Finding>& races() const { return races_; }

  bool has_raced(Element element) const { return raced_.contains(element); }
  void note_load(Element element, std::uint32_t thread) { loaded_by_[element].insert(thread); }
  void note_change(Element element, std::uint32_t thread, const Changed& change);
  const Changed* find(Element element) const {
    const auto found = changed_.find(element);
    return found == changed_.end() ? nullptr : &found->second;
  }

  /// Whether a thread has stored to such an element without having loaded it: the others hold no copies then.
  bool has_other_writer() const { return has_other_writer_; }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, Finding> races_;
  std::set<Element> raced_;
  std::map<Element, std::set<std::uint32_t>> loaded_by_;
  std::map<Element, Changed> changed_;
  bool has_other_writer_ = false;
};

/// What a place holds, and what it will hold after a store with lanes.
HeldCopies::Changed change_by(Thread& thread, const Instruction& instruction, std::uint64_t address,
                              Space space);

/// Records who loads and who changes the elements that have raced in an earlier execution.
class RecordedCopies final : public LaunchObserver {
 public:
  RecordedCopies(HeldCopies& copies, const Extent& grid) : copies_(copies), grid_(grid) {}

  std::unique_ptr<BlockObserver> watch_block() override;
  void begin_memory(std::uint64_t /*address*/, std::size_t /*bytes*/) override {}

 private:
  HeldCopies& copies_;
  Extent grid_;
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
