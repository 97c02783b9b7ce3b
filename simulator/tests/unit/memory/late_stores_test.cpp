// Stores that other blocks see late: what each block finds in memory in its turns.
#include "machine/memory/late_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace opgate::simulator::tests {
namespace late_stores_test {

// Memory of a device, and blocks that store to it in turns.
class Blocks {
 public:
  explicit Blocks(std::uint64_t seed) : stores_(std::in_place, seed, 1) {}

  void run(std::uint32_t block) { stores_->begin_turn(block); }
  void run_long() { stores_->let_time_pass(); }
  void stop() { stores_->end_turn(); }

  template <class T>
  void store(std::size_t at, T value, bool is_strong = false) {
    stores_->store(&memory_[at], sizeof(T), is_strong);
    std::memcpy(&memory_[at], &value, sizeof(T));
  }

  template <class T>
  T load(std::size_t at) const {
    T value;
    std::memcpy(&value, &memory_[at], sizeof(T));
    return value;
  }

  std::uint32_t add(std::size_t at, std::uint32_t value) {
    stores_->make_visible(&memory_[at], sizeof(value));
    const auto old = load<std::uint32_t>(at);
    const std::uint32_t sum = old + value;
    std::memcpy(&memory_[at], &sum, sizeof(sum));
    return old;
  }

  void fence() { stores_->make_visible(); }
  void end_launch() { stores_.reset(); }

  // What a block without stores of its own finds.
  template <class T>
  T seen_by_others(std::size_t at) {
    run(1000);
    const T value = load<T>(at);
    stop();
    return value;
  }

 private:
  alignas(32) std::array<unsigned char, 256> memory_{};
  std::optional<LateStores> stores_;
};

// The first seed with which block 0 stores late to the first word, for more turns than a test has.
std::uint64_t late_seed() {
  for (std::uint64_t seed = 1;; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    blocks.store<std::uint32_t>(0, 1);
    blocks.stop();
    bool is_late = true;
    for (int turn = 0; turn < 10; ++turn) is_late &= blocks.seen_by_others<std::uint32_t>(0) == 0;
    if (is_late) return seed;
  }
}

TEST(LateStores, AreSeenByTheirBlockAndNotByOthers) {
  Blocks blocks(late_seed());
  blocks.run(0);
  blocks.store<std::uint32_t>(0, 1);
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 1u);
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(0), 0u);
  blocks.run(0);
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 1u);
  blocks.stop();
  blocks.end_launch();
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 1u);
}

TEST(LateStores, ArePartsOfLargerLoadsAndStores) {
  Blocks blocks(late_seed());
  blocks.run(0);
  blocks.store<std::uint32_t>(0, 0x11111111);
  blocks.store<std::uint16_t>(2, 0x2222);
  blocks.store<std::uint8_t>(0, 0x33);
  EXPECT_EQ(blocks.load<std::uint64_t>(0), 0x22221133u);
  blocks.store<std::uint64_t>(0, 0x4444444444444444);
  blocks.store<std::uint8_t>(7, 0x55);
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint64_t>(0), 0u);
  blocks.run(0);
  EXPECT_EQ(blocks.load<std::uint64_t>(0), 0x5544444444444444u);
  blocks.fence();
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint64_t>(0), 0x5544444444444444u);
}

TEST(LateStores, OfOneValueBecomeVisibleTogether) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    blocks.store<std::uint16_t>(2, 0x1111);
    blocks.store<std::uint64_t>(0, ~std::uint64_t{0});
    blocks.stop();
    for (int turn = 0; turn < 300; ++turn) {
      const auto seen = blocks.seen_by_others<std::uint64_t>(0);
      ASSERT_TRUE(seen == 0 || seen == 0x11110000 || seen == ~std::uint64_t{0}) << std::hex << seen;
    }
  }
}

TEST(LateStores, ToOnePlaceAreSeenInTheirOrder) {
  bool was_late = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    std::uint32_t before = 0;
    for (std::uint32_t value = 1; value <= 20; ++value) {
      blocks.run(value % 3);
      blocks.store<std::uint32_t>(0, value);
      blocks.stop();
      const auto seen = blocks.seen_by_others<std::uint32_t>(0);
      ASSERT_GE(seen, before);
      was_late |= seen != value;
      before = seen;
    }
    blocks.end_launch();
    EXPECT_EQ(blocks.load<std::uint32_t>(0), 20u);
  }
  EXPECT_TRUE(was_late);
}

TEST(LateStores, AreVisibleBehindAFenceOfTheirBlock) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    for (std::size_t at = 0; at < 64; at += 4) blocks.store<std::uint32_t>(at, 1);
    blocks.fence();
    blocks.store<std::uint32_t>(64, 1);
    blocks.stop();
    for (std::size_t at = 0; at < 64; at += 4) EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(at), 1u);
  }
}

TEST(LateStores, ComeBeforeAnAtomicAccessOfTheirBlock) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    blocks.store<std::uint32_t>(0, 5);
    EXPECT_EQ(blocks.add(0, 1), 5u);
    blocks.stop();
    EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(0), 6u);
  }
}

TEST(LateStores, ToOtherPlacesMayBeOvertakenByAnAtomicAccess) {
  Blocks blocks(late_seed());
  blocks.run(0);
  blocks.store<std::uint32_t>(0, 1);
  blocks.add(4, 1);
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(4), 1u);
  EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(0), 0u);
}

// A block that adds to what another one has stored late finds what was there before, and its sum is lost.
TEST(LateStores, AreNotSeenByAtomicAccessesOfOthers) {
  Blocks blocks(late_seed());
  blocks.run(0);
  blocks.store<std::uint32_t>(0, 10);
  blocks.stop();
  blocks.run(1);
  EXPECT_EQ(blocks.add(0, 1), 0u);
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(0), 1u);
  blocks.run(0);
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 10u);
  blocks.stop();
  EXPECT_EQ(blocks.seen_by_others<std::uint32_t>(0), 1u);
  blocks.end_launch();
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 10u);
}

TEST(LateStores, BecomeVisibleInTheEnd) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    for (std::size_t at = 0; at < 64; at += 4) blocks.store<std::uint32_t>(at, 1);
    blocks.stop();
    blocks.run(1);
    for (int turns = 0; turns < 16; ++turns) blocks.run_long();
    for (std::size_t at = 0; at < 64; at += 4) EXPECT_EQ(blocks.load<std::uint32_t>(at), 1u);
    blocks.stop();
  }
}

// A strong store may be what the block that runs waits for.
TEST(LateStores, ThatAreStrongAreNotLateForLong) {
  bool was_late = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Blocks blocks(seed);
    blocks.run(0);
    blocks.store<std::uint32_t>(0, 1, /*is_strong=*/true);
    blocks.run_long();
    blocks.stop();
    blocks.run(1);
    was_late |= blocks.load<std::uint32_t>(0) == 0;
    blocks.run_long();
    EXPECT_EQ(blocks.load<std::uint32_t>(0), 1u);
    blocks.stop();
  }
  EXPECT_TRUE(was_late);
}

TEST(LateStores, AreNotManyOfOneBlock) {
  std::vector<std::uint32_t> memory(4000);
  LateStores stores(1, 1);
  stores.begin_turn(0);
  for (std::uint32_t& word : memory) {
    stores.store(reinterpret_cast<unsigned char*>(&word), sizeof(word), /*is_strong=*/false);
    word = 1;
  }
  stores.end_turn();
  const auto late = std::count(memory.begin(), memory.end(), 0u);
  EXPECT_GT(late, 100);
  EXPECT_LE(late, 256);
  EXPECT_GT(std::count(memory.begin() + 500, memory.end(), 0u), 0) << "the first ones alone are late";
}

TEST(LateStores, OfABlockThatIsStoppedByAFaultStay) {
  Blocks blocks(late_seed());
  blocks.run(0);
  blocks.store<std::uint32_t>(0, 1);
  blocks.end_launch();
  EXPECT_EQ(blocks.load<std::uint32_t>(0), 1u);
}

}  // namespace late_stores_test
}  // namespace opgate::simulator::tests
