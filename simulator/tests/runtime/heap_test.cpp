// The addresses that a device's memory is given out at.
#include "runtime/memory/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
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
  static const AddressRange the_range(2, kAddresses, kFill);
  return the_range;
}

Heap heap_of(int device) {
  return {range(), plan_for_host(range().begin_of(device), range().bytes_of_each(), kCapacity)};
}

bool filled(std::uint64_t address, std::size_t bytes) {
  const std::byte* const data = range().alias(address);
  return std::all_of(data, data + bytes, [](std::byte each) { return each == std::byte{kFill}; });
}

TEST(Heap, LiveBlocksNeverMeet) {
  Heap heap = heap_of(1);
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
    const std::size_t bytes = random() % (random() % 50 == 0 ? 6'000'000 : 5'000) + 1;
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
  Heap heap = heap_of(0);
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

// What is said names the allocation that is closest.
TEST(Heap, AnAccessBeforeAnAllocationIsNotBehindAnother) {
  Heap heap = heap_of(0);
  const std::uint64_t first = heap.allocate(96).value();
  const std::uint64_t second = heap.allocate(512).value();
  ASSERT_GT(second, first);
  EXPECT_EQ(heap.explain(second - 128, 4), "before the start of an allocation of 512 bytes by 128");
  EXPECT_EQ(heap.closest(second - 128)->begin, second);
  EXPECT_EQ(heap.explain(first + 100, 4), "past the end of an allocation of 96 bytes by 8");
  EXPECT_EQ(heap.explain(first - 4, 4), "before the start of an allocation of 96 bytes by 4");
  heap.release(second);
  EXPECT_EQ(heap.explain(second - 128, 4),
            "before the start of an allocation of 512 bytes by 128, which was freed");
}

TEST(Heap, FreedMemoryIsKeptOutOfUse) {
  Heap heap = heap_of(0);
  const std::uint64_t block = heap.allocate(96).value();
  EXPECT_EQ(heap.explain(block + 96, 4), "past the end of an allocation of 96 bytes by 4");
  heap.release(block);
  EXPECT_EQ(heap.find(block), nullptr);
  EXPECT_NE(heap.allocate(96).value(), block);
  EXPECT_EQ(heap.explain(block + 8, 4), "byte 8 of an allocation of 96 bytes that was freed");
}

TEST(Heap, MemoryOfGraphsKeepsItsAddresses) {
  Heap heap = heap_of(0);
  const std::uint64_t block = heap.reserve(kCapacity).value();
  EXPECT_EQ(heap.find(block), nullptr);
  EXPECT_EQ(heap.used(), 0U);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_TRUE(heap.revive(block));
    EXPECT_FALSE(heap.revive(block)) << "it is in use";
    EXPECT_TRUE(filled(block, 4096));
    EXPECT_EQ(heap.used_by_graphs(), kCapacity);
    EXPECT_TRUE(heap.release(block));
    EXPECT_EQ(heap.used_by_graphs(), 0U);
    // As much as all addresses, so that each is used: none of them is the block's.
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t other = heap.allocate(kCapacity / 2).value();
      EXPECT_TRUE(other + kCapacity / 2 <= block || other >= block + kCapacity);
      EXPECT_TRUE(heap.release(other));
    }
  }
  const std::uint64_t small = heap.allocate(4096).value();
  EXPECT_FALSE(heap.revive(block)) << "the device has no more memory";
  EXPECT_TRUE(heap.release(small));
  heap.let_go(block);
  EXPECT_FALSE(heap.release(block));
  EXPECT_EQ(heap.used(), 0U);
}

TEST(Heap, SmallBlocksOfKernelsLieCloseTogether) {
  Heap heap(range(), plan_for_kernels(range().begin_of(0), range().bytes_of_each(), /*capacity=*/64));
  const std::uint64_t first = heap.allocate(20).value();
  const std::uint64_t second = heap.allocate(20).value();
  EXPECT_EQ(first % 16, 0U);
  EXPECT_EQ(second % 16, 0U);
  EXPECT_LT(second - first, 512U);
  EXPECT_EQ(heap.explain(first + 20, 4), "past the end of an allocation of 20 bytes by 4");
  EXPECT_FALSE(heap.allocate(25));
  EXPECT_TRUE(heap.release(first));
  EXPECT_TRUE(filled(second, 20)) << "the block beside it is freed";
  EXPECT_TRUE(heap.allocate(25));
}

std::size_t bytes_of_this_process() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * 4096;
}

TEST(Heap, PagesTakeMemoryOnceTheyAreWritten) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  Heap heap = heap_of(0);
  const std::size_t before = bytes_of_this_process();
  const std::uint64_t block = heap.allocate(200 * kMiB + 100).value();
  EXPECT_LT(bytes_of_this_process(), before + 20 * kMiB);
  std::memset(range().alias(block), 1, 100 * kMiB);
  EXPECT_GT(bytes_of_this_process(), before + 90 * kMiB);
  EXPECT_TRUE(filled(block + 100 * kMiB, 100 * kMiB + 100)) << "what is beside the written bytes";
  EXPECT_TRUE(heap.release(block));
  EXPECT_LT(bytes_of_this_process(), before + 20 * kMiB);
}

}  // namespace
}  // namespace opgate::simulator
