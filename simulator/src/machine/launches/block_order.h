// The order in which the blocks of a grid begin. On a device it is unspecified, and in practice another one
// each time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace opgate::simulator {

/// A permutation of so many blocks. For a few blocks, it may be any one. For more, it needs no memory:
/// position i has block (factor * i + first) modulo their number, with a factor that is coprime to it.
class BlockOrder {
 public:
  static constexpr std::uint64_t kFew = 16;
  /// The orders of so few blocks are counted, and not drawn: there are at most 24.
  static constexpr std::uint64_t kCounted = 4;

  /// With the seed 0, blocks begin in the order of their indices. `launch` is the number of the launch: those
  /// of a program have orders of their own. For n blocks that are counted, the seeds 1 to n! give all orders,
  /// whatever the launch is, and so do the next n!, in which other orders of two launches come together.
  BlockOrder(std::uint64_t blocks, std::uint64_t seed, std::uint64_t launch = 0)
      : blocks_(blocks), is_listed_(seed != 0 && blocks <= kFew) {
    if (seed == 0 || blocks < 2) return;
    if (is_listed_) {
      std::iota(listed_.begin(), listed_.end(), std::uint8_t{0});
      blocks <= kCounted ? count_to(seed - 1, launch) : shuffle(seed + launch);
      return;
    }
    seed += launch;
    first_ = mixed(seed) % blocks;
    // Products of two numbers below 2^32 fit; larger grids are only rotated.
    if (blocks > (std::uint64_t{1} << 32)) return;
    factor_ = mixed(seed + 1) % blocks;
    while (std::gcd(factor_, blocks) != 1) factor_ = (factor_ + 1) % blocks;
    if (factor_ == 1 && first_ == 0) first_ = 1;
  }

  /// Those of `first` come first, the others follow by index. For so few blocks only.
  static constexpr std::uint64_t kMostAfter = 32;
  static BlockOrder after(std::uint64_t blocks, const std::vector<std::uint64_t>& first) {
    BlockOrder order(blocks, 0);
    order.is_listed_ = true;
    const auto last = std::ranges::copy(first, order.listed_.begin()).out;
    auto next = last;
    for (std::uint64_t block = 0; block < blocks; ++block)
      if (std::ranges::find(order.listed_.begin(), last, block) == last)
        *next++ = static_cast<std::uint8_t>(block);
    return order;
  }

  std::uint64_t block(std::uint64_t position) const {
    return is_listed_ ? listed_[position] : (factor_ * position + first_) % blocks_;
  }

 private:
  // The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  static std::uint64_t mixed(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
  }

  // Fisher and Yates, in the form of Durstenfeld (Algorithm 235: Random permutation, 1964).
  void shuffle(std::uint64_t seed) {
    for (std::uint64_t left = blocks_; left > 1; --left)
      std::swap(listed_[left - 1], listed_[mixed(mixed(seed) + left) % left]);
  }

  // The digits of the number, in the mixed base of factorials, choose among the blocks that are left.
  void count_to(std::uint64_t number, std::uint64_t launch) {
    std::uint64_t orders = 1;
    for (std::uint64_t i = 2; i <= blocks_; ++i) orders *= i;
    std::uint64_t digits = (number % orders + mixed(mixed(number / orders) + launch)) % orders;
    for (std::uint64_t left = blocks_; left > 1; --left) {
      std::swap(listed_[left - 1], listed_[digits % left]);
      digits /= left;
    }
  }

  std::uint64_t blocks_;
  bool is_listed_;
  std::array<std::uint8_t, kMostAfter> listed_{};
  std::uint64_t factor_ = 1;
  std::uint64_t first_ = 0;
};

/// The blocks that have not begun yet.
class BlocksToBegin {
 public:
  BlocksToBegin(std::uint64_t blocks, const BlockOrder& order) : blocks_(blocks), order_(order) {}

  /// Those of `first` begin first, whatever they wait for, and the others follow by index.
  BlocksToBegin(std::uint64_t blocks, std::vector<std::uint64_t> first)
      : blocks_(blocks), order_(blocks, 0), by_index_(true), first_(std::move(first)), early_(first_) {
    std::ranges::sort(early_);
  }

  std::uint64_t begun() const { return begun_; }
  std::uint64_t left() const { return blocks_ - begun_; }

  /// The index of the block that begins now. There must be one left.
  std::uint64_t next() {
    if (begun_ < first_.size()) return first_[begun_++];
    if (!by_index_) return order_.block(begun_++);
    for (; early_left_ < early_.size() && early_[early_left_] == next_; ++early_left_) ++next_;
    ++begun_;
    return next_++;
  }

  /// From now on, those that are left begin in the order of their indices. A block may be waiting for one
  /// with a lower index, as in the scans of CUB. Devices begin them in this order, although CUDA does not
  /// promise it.
  void go_on_by_index() {
    if (by_index_) return;
    by_index_ = true;
    for (std::uint64_t i = 0; i < begun_; ++i) early_.push_back(order_.block(i));
    std::ranges::sort(early_);
  }

 private:
  std::uint64_t blocks_;
  BlockOrder order_;
  std::uint64_t begun_ = 0;
  bool by_index_ = false;
  std::vector<std::uint64_t> first_;  ///< of a schedule
  std::vector<std::uint64_t> early_;  ///< indices of those that had begun before, ascending
  std::size_t early_left_ = 0;        ///< the first of them that is not below `next_`
  std::uint64_t next_ = 0;
};

}  // namespace opgate::simulator
