// The addresses that a device's memory is given out at.
#include "simulator/runtime/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace opgate::simulator {
namespace {

constexpr std::size_t kAddresses = std::size_t{1} << 30;
constexpr std::size_t kCapacity = std::size_t{256} << 20;
constexpr unsigned char kFill = 0xA5;

// One for all tests, because ranges live as long as the process.
const AddressRange& range() {
  static const AddressRange the_range(2, kAddresses);
  return the_range;
}

bool filled(std::uint64_t address, std::size_t bytes) {
  const std::byte* const data = range().alias(address);
  return std::all_of(data, data + bytes, [](std::byte each) { return each == std::byte{kFill}; });
}

TEST(Heap, LiveBlocksNeverMeet) {
  Heap heap(range(), 1, kCapacity, kFill);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::size_t> live;
  for (int step = 0; step < 40'000; ++step) {  // all addresses are used several times
    if (live.size() == 200 || (!live.empty() && random() % 3 == 0)) {
      const auto victim = std::next(live.begin(), random() % live.size());
      ASSERT_TRUE(filled(victim->first, victim->second)) << "another block was written into this one";
      ASSERT_TRUE(heap.release(victim->first));
      live.erase(victim);
      continue;
    }
    const std::size_t bytes = random() % (random() % 50 == 0 ? 1'000'000 : 5'000) + 1;
    const std::optional<std::uint64_t> address = heap.allocate(bytes);
    ASSERT_TRUE(address);
    ASSERT_EQ(*address % 512, 0U);
    ASSERT_TRUE(filled(*address, bytes));
    const auto after = live.lower_bound(*address);
    ASSERT_TRUE(after == live.end() || *address + bytes < after->first);
    ASSERT_TRUE(after == live.begin() || std::prev(after)->first + std::prev(after)->second < *address);
    live[*address] = bytes;
  }
}

TEST(Heap, AllMemoryCanBeHadOnceMore) {
  Heap heap(range(), 0, kCapacity, kFill);
  EXPECT_FALSE(heap.allocate(kCapacity + 1));
  for (int round = 0; round < 10; ++round) {
    std::vector<std::uint64_t> small;
    for (int i = 0; i < 2'000; ++i) small.push_back(heap.allocate(100).value());
    for (const std::uint64_t each : small) EXPECT_TRUE(heap.release(each));
    const std::optional<std::uint64_t> whole = heap.allocate(kCapacity);
    ASSERT_TRUE(whole) << round;
    EXPECT_FALSE(heap.allocate(1));
    EXPECT_TRUE(heap.release(*whole));
    EXPECT_FALSE(heap.release(*whole));
  }
  EXPECT_EQ(heap.used(), 0U);
}

TEST(Heap, FreedMemoryIsKeptOutOfUse) {
  Heap heap(range(), 0, kCapacity, kFill);
  const std::uint64_t block = heap.allocate(96).value();
  EXPECT_EQ(heap.explain(block + 96, 4), "past the end of an allocation of 96 bytes by 4");
  heap.release(block);
  EXPECT_EQ(heap.find(block), nullptr);
  EXPECT_NE(heap.allocate(96).value(), block);
  EXPECT_EQ(heap.explain(block + 8, 4), "byte 8 of an allocation of 96 bytes that was freed");
}

}  // namespace
}  // namespace opgate::simulator
