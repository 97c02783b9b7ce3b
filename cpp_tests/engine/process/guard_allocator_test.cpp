// The guard allocator: what lies around a block, which writes and reads are found, and which are not.
#include "memory/guard_allocator.h"

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "memory/far_storage.h"
#include "memory/guard_pages.h"
#include "support.h"

namespace opgate::guard_allocator_test {
namespace {

class Guarded : public ::testing::Test {
 protected:
  void SetUp() override {
    guard::install();
    first_ = guard::next_serial();
    static_cast<void>(guard::take_damage_since(0));
  }

  std::vector<Damage> damage() const { return guard::take_damage_since(first_); }
  static at::Tensor bytes(int64_t count) { return at::empty({count}, at::kByte); }
  static std::byte* data(const at::Tensor& tensor) {
    return static_cast<std::byte*>(tensor.mutable_data_ptr());
  }

  uint64_t first_ = 0;
};

using GuardPagesDeath = Guarded;

TEST_F(Guarded, FreshMemoryHoldsThePoisonThatIsInUse) {
  for (const Poison& poison : {kFirstPoison, kSecondPoison}) {
    const GuardScope scope(poison);
    const at::Tensor fresh = bytes(1000);
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(data(fresh)[i], poison.fresh) << i;
  }
}

TEST_F(Guarded, BlocksAreAlignedAsTorchPromises) {
  for (const int64_t count : {1, 63, 64, 65, 4096}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data(bytes(count))) % 64, 0u) << count;
  }
}

TEST_F(Guarded, BlocksAboveALimitAreRefusedUntilItIsLifted) {
  guard::refuse_above(1000);
  EXPECT_EQ(bytes(1000).numel(), 1000);
  EXPECT_THAT(testing::message_of<c10::Error>([] { bytes(1001); }),
              ::testing::HasSubstr("an allocation of 1001 bytes is refused: the limit is 1000 bytes"));
  guard::refuse_above(0);
  EXPECT_EQ(bytes(1001).numel(), 1001);
}

TEST_F(Guarded, AnUntouchedBlockIsNotDamaged) {
  at::Tensor kept = bytes(100);
  std::memset(data(kept), 1, 100);
  static_cast<void>(bytes(100));
  EXPECT_TRUE(damage().empty());
}

TEST_F(Guarded, BlocksFarApartFindWritesThatWouldMeetTheHeap) {
  const GuardScope scope(kFirstPoison, Place::far_apart);
  std::ptrdiff_t in_front = 0, behind = 0;
  for (const int64_t count : {1, 4096, 100'000}) {
    const at::Tensor block = bytes(count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data(block)) % 64, 0u) << count;
    EXPECT_TRUE(damage().empty()) << count;
    data(block)[count + 60'000] = std::byte{0};
    data(block)[-60'000] = std::byte{0};
    for (const Damage& found : damage()) {
      (found.kind == Damage::Kind::before ? in_front : behind) = found.offset;
      EXPECT_EQ(found.bytes, 1u);
    }
    EXPECT_EQ(std::pair(in_front, behind), std::pair(std::ptrdiff_t{-60'000}, std::ptrdiff_t{60'000}))
        << count;
    EXPECT_TRUE(damage().empty()) << "damage is told once";
  }
}

TEST_F(Guarded, DamageToABlockFarApartIsFoundWhenItIsFreed) {
  {
    const GuardScope scope(kFirstPoison, Place::far_apart);
    const at::Tensor block = bytes(64);
    data(block)[-5000] = std::byte{0};
  }
  EXPECT_EQ(damage().size(), 1u);
}

TEST_F(Guarded, AWriteBehindABlockIsFoundWhileItLives) {
  const at::Tensor block = bytes(100);
  data(block)[103] = std::byte{0};
  data(block)[105] = std::byte{0};
  const std::vector<Damage> found = damage();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Damage::Kind::after);
  EXPECT_EQ(found[0].block.data, data(block));
  EXPECT_EQ(found[0].offset, 3);
  EXPECT_EQ(found[0].bytes, 2u);
  EXPECT_TRUE(damage().empty()) << "damage that was reported is repaired";
}

TEST_F(Guarded, AWriteBeforeABlockIsFoundAfterItWasFreed) {
  {
    const at::Tensor block = bytes(100);
    data(block)[-8] = std::byte{0};
  }
  const std::vector<Damage> found = damage();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Damage::Kind::before);
  EXPECT_EQ(found[0].offset, -8);
}

TEST_F(Guarded, AWriteOfTheZonesOwnByteIsNotSeenUnderOnePoisonAndIsUnderTheOther) {
  const auto write_behind = [&](const Poison& poison) {
    const GuardScope scope(poison);
    const at::Tensor block = bytes(10);
    data(block)[10] = kFirstPoison.zone;
    return damage().size();
  };
  EXPECT_EQ(write_behind(kFirstPoison), 0u);
  EXPECT_EQ(write_behind(kSecondPoison), 1u);
}

TEST_F(Guarded, AWriteToFreedMemoryIsFound) {
  std::byte* dangling = nullptr;
  {
    const at::Tensor block = bytes(3000);
    dangling = data(block);
  }
  dangling[2000] = std::byte{7};
  const std::vector<Damage> found = damage();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Damage::Kind::freed);
  EXPECT_EQ(found[0].offset, 2000);
}

TEST_F(Guarded, FreedMemoryHoldsPoisonAndNoLongerWhatWasThere) {
  const std::byte* dangling = nullptr;
  {
    const at::Tensor block = bytes(64);
    std::memset(data(block), 1, 64);
    dangling = data(block);
  }
  EXPECT_EQ(dangling[5], kFirstPoison.freed);
}

TEST_F(Guarded, OnlyDamageToLaterBlocksIsReported) {
  const at::Tensor older = bytes(10);
  first_ = guard::next_serial();
  data(older)[10] = std::byte{0};
  EXPECT_TRUE(damage().empty());
}

TEST_F(Guarded, ListsWhatIsAliveTheLatestFirst) {
  const at::Tensor one = bytes(10);
  static_cast<void>(bytes(20));
  const at::Tensor two = bytes(30);
  const std::vector<Block> alive = guard::alive_since(first_);
  ASSERT_EQ(alive.size(), 2u);
  EXPECT_EQ(alive[0].data, data(two));
  EXPECT_EQ(alive[0].bytes, 30u);
  EXPECT_EQ(alive[1].data, data(one));
}

TEST_F(Guarded, AnEmptyTensorHasNoBlock) {
  const at::Tensor empty = bytes(0);
  EXPECT_EQ(empty.data_ptr(), nullptr);
  EXPECT_TRUE(guard::alive_since(first_).empty());
}

TEST_F(Guarded, ManyThreadsMayAllocateAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int64_t n = 1; n < 500; ++n) static_cast<void>(bytes(n * 7));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(damage().empty());
  EXPECT_TRUE(guard::alive_since(first_).empty());
}

TEST_F(GuardPagesDeath, TheFirstByteBehindABlockCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  guard_pages::report_faults();
  const auto read_behind = [&](int64_t bytes_behind) {
    const GuardScope scope(kFirstPoison, Place::page_end);
    const at::Tensor block = bytes(100);
    guard::label(block.data_ptr(), "`x`");
    volatile std::byte got = data(block)[99 + bytes_behind];
    static_cast<void>(got);
  };
  read_behind(0);
  EXPECT_DEATH(read_behind(1), "out of bounds: byte 0 past the end of `x` \\(100 bytes\\) was touched");
}

TEST_F(GuardPagesDeath, TheFirstByteBeforeABlockCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  guard_pages::report_faults();
  const auto read_at = [&](int64_t at) {
    const GuardScope scope(kFirstPoison, Place::page_start);
    const at::Tensor block = bytes(5000);
    volatile std::byte got = data(block)[at];
    static_cast<void>(got);
  };
  read_at(0);
  EXPECT_DEATH(read_at(-1), "byte 1 before the start of a block that the operator allocated");
}

TEST_F(GuardPagesDeath, AFreedBlockCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  guard_pages::report_faults();
  EXPECT_DEATH(
      {
        const std::byte* dangling = nullptr;
        {
          const GuardScope scope(kFirstPoison, Place::page_end);
          dangling = data(bytes(10));
        }
        volatile std::byte got = *dangling;
        static_cast<void>(got);
      },
      "was touched after it was freed");
}

TEST(FarStorage, ReachesBeyond32BitsAndKeepsWhatIsWrittenThere) {
  for (const int64_t beyond : {int64_t{1} << 31, int64_t{1} << 32}) {
    for (const Geometry& geometry : {far_strided({2, 3}, beyond), far_offset({2, 3}, beyond),
                                     far_strided({1, 1}, beyond), far_strided({1000}, beyond)}) {
      int64_t last = geometry.offset;
      for (size_t dim = 0; dim < geometry.sizes.size(); ++dim)
        last += (geometry.sizes[dim] - 1) * geometry.strides[dim];
      EXPECT_GT(last, beyond);
      const at::Tensor far = far_tensor(geometry, at::kDouble);
      const at::Tensor values = testing::counted(geometry.sizes, at::kDouble);
      far.copy_(values);
      EXPECT_TRUE(testing::same_bits(far, values));
    }
  }
}

}  // namespace
}  // namespace opgate::guard_allocator_test
