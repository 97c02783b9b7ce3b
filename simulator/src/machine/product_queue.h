// Products of matrices that a warp has begun and has not waited for yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "ptx/instruction.h"

namespace opgate::simulator {

struct Function;

/// One `wgmma.mma_async`. What it needs of registers is taken when it begins, but for the sums, to which it
/// adds when the warp waits for it. What it needs of shared memory is read then as well.
struct BegunProduct {
  const Instruction* instruction = nullptr;
  const Function* function = nullptr;  ///< whose registers hold the sums
  std::uint64_t group = 0;
  bool adds = false;    ///< to the sums; otherwise they begin with zeros
  std::uint64_t a = 0;  ///< descriptors of the matrices in shared memory
  std::uint64_t b = 0;
  std::vector<std::uint64_t> fragments;  ///< the registers of `a`, lane by lane, if it lies in registers
};

/// A `mov` of a sum of such a product, which a lane has executed and repeats when the warp has waited for it.
struct MoveOfSums {
  const Instruction* instruction = nullptr;
  unsigned lane = 0;
  std::uint64_t group = 0;  ///< the latest one of the products that its sources wait for
  std::vector<std::pair<Slot, std::uint64_t>> others;  ///< sources that wait for none, and their values
};

using PendingWork = std::variant<BegunProduct, MoveOfSums>;

/// The products of one warp, in the order in which it has begun them, and the groups that it has put them
/// into. A product is computed when the warp waits for it, and not before, so that a kernel which forgets to
/// wait finds what was there before. A move of a sum before the wait is repeated after its product, because
/// ptxas orders moves of registers as if there were no wait.
class ProductQueue {
 public:
  static constexpr std::size_t kLanes = 32;

  /// `sums`: the registers to which it adds.
  void begin(BegunProduct product, const std::vector<Slot>& sums) {
    product.group = groups_;
    if (product.function != function_) {
      function_ = product.function;
      sums_.clear();
      moved_.clear();
    }
    for (const Slot sum : sums) newest_at(sums_, static_cast<std::size_t>(sum)) = groups_ + 1;
    pending_.push_back(std::move(product));
  }

  /// Whether registers of the function may wait for products.
  bool has_pending_in(const Function& function) const { return !pending_.empty() && function_ == &function; }

  /// How many groups must be waited for until a register of the lane holds what it has been given: 0 if it
  /// holds that now.
  std::uint64_t groups_before(unsigned lane, Slot slot) const {
    const auto newest = [&](const std::vector<std::uint64_t>& groups, std::size_t at) {
      return at < groups.size() && groups[at] > waited_for_ ? groups[at] : 0;
    };
    return std::max(newest(sums_, static_cast<std::size_t>(slot)), newest(moved_, place_of(lane, slot)));
  }

  /// `results`: how many registers it writes, which are its first operands.
  void move(MoveOfSums move, std::size_t results) {
    for (std::size_t i = 0; i < results; ++i)
      newest_at(moved_, place_of(move.lane, move.instruction->slot(i))) = move.group + 1;
    pending_.push_back(std::move(move));
  }

  /// Makes a group of the products that are in none.
  void commit() { ++groups_; }

  /// Removes the products of all groups but the latest `kept` and the moves that wait for nothing else, and
  /// gives them in their order.
  std::vector<PendingWork> take_all_but(std::uint64_t kept) {
    if (groups_ > kept) waited_for_ = std::max(waited_for_, groups_ - kept);
    std::vector<PendingWork> taken;
    std::vector<PendingWork> others;
    for (PendingWork& work : pending_) {
      const std::uint64_t group = std::visit([](const auto& each) { return each.group; }, work);
      (group < waited_for_ ? taken : others).push_back(std::move(work));
    }
    pending_ = std::move(others);
    return taken;
  }

 private:
  static std::size_t place_of(unsigned lane, Slot slot) {
    return static_cast<std::size_t>(slot) * kLanes + lane;
  }
  static std::uint64_t& newest_at(std::vector<std::uint64_t>& groups, std::size_t at) {
    if (at >= groups.size()) groups.resize(at + 1);
    return groups[at];
  }

  std::vector<PendingWork> pending_;
  std::uint64_t groups_ = 0;
  std::uint64_t waited_for_ = 0;        ///< of them
  const Function* function_ = nullptr;  ///< of the latest product
  // One more than the latest group that a register waits for:
  std::vector<std::uint64_t> sums_;   ///< as a sum, by its slot
  std::vector<std::uint64_t> moved_;  ///< as the result of a move, by its slot and lane
};

}  // namespace opgate::simulator
