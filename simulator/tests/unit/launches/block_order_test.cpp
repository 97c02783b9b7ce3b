// Every block begins once, in an order that depends on the seed.
#include "machine/launches/block_order.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace opgate::simulator::tests {
namespace block_order_test {

using Blocks = std::vector<std::uint64_t>;

std::vector<std::uint64_t> order_of(std::uint64_t blocks, std::uint64_t seed, std::uint64_t launch = 0) {
  const BlockOrder order(blocks, seed, launch);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < blocks; ++i) all.push_back(order.block(i));
  return all;
}

TEST(BlockOrder, HasEveryBlockOnce) {
  for (const std::uint64_t blocks : {1, 2, 3, 4, 30, 31, 32, 1000}) {
    for (const std::uint64_t seed : {0, 1, 2, 3, 99}) {
      const std::vector<std::uint64_t> all = order_of(blocks, seed);
      const std::set<std::uint64_t> once(all.begin(), all.end());
      EXPECT_EQ(once.size(), blocks) << seed;
      EXPECT_EQ(*once.rbegin(), blocks - 1) << seed;
    }
  }
}

TEST(BlockOrder, DependsOnTheSeed) {
  EXPECT_EQ(order_of(4, 0), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) orders.insert(order_of(64, seed));
  EXPECT_GT(orders.size(), 15);
  EXPECT_EQ(order_of(64, 5), order_of(64, 5));
}

// A mistake that only one order of a few blocks shows is found by as many seeds as there are orders.
TEST(BlockOrder, OfFewBlocksIsEachOneOnce) {
  for (const std::uint64_t launch : {0, 1, 2, 500}) {
    const auto orders_of = [&](std::uint64_t blocks, std::uint64_t first, std::uint64_t seeds) {
      std::set<Blocks> orders;
      for (std::uint64_t i = 0; i < seeds; ++i) orders.insert(order_of(blocks, first + i, launch));
      return orders.size();
    };
    EXPECT_EQ(orders_of(2, 1, 2), 2u);
    EXPECT_EQ(orders_of(2, 3, 2), 2u);
    EXPECT_EQ(orders_of(3, 1, 6), 6u);
    EXPECT_EQ(orders_of(4, 1, 24), 24u);
    EXPECT_EQ(orders_of(4, 25, 24), 24u);
  }
}

// A mistake may need certain orders of two launches.
TEST(BlockOrder, OfTwoLaunchesComeTogetherInEachWay) {
  for (std::uint64_t launch = 1; launch < 50; ++launch) {
    std::set<std::pair<Blocks, Blocks>> both;
    for (std::uint64_t seed = 1; seed <= 24; ++seed)
      both.emplace(order_of(2, seed, launch), order_of(2, seed, launch + 1));
    EXPECT_EQ(both.size(), 4u) << launch;
  }
}

TEST(BlockOrder, OfTheLargestGrid) {
  const std::uint64_t blocks = std::uint64_t{2147483647} * 65535 * 65535;
  const BlockOrder order(blocks, 7);
  EXPECT_LT(order.block(blocks - 1), blocks);
  EXPECT_NE(order.block(0), order.block(blocks - 1));
}

}  // namespace block_order_test
}  // namespace opgate::simulator::tests
