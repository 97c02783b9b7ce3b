// Schedules as text, and launches that follow them.
#include <opgate_sim/schedule.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/launches/block_order.h"
#include "machine/launches/scheduled_order.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace schedule_test {

std::string why_not(const std::string& text) {
  try {
    static_cast<void>(schedule_from_text(text));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Schedule, IsReadAsItIsWritten) {
  for (const char* const text : {
           "launch 1 of twice: blocks 1",
           "launch 12: blocks 3 1 0,2 0,0,1",
           "launch 2 of (anonymousnamespace)::twice<float,4>: warps 3 1 of block 0",
           "launch 2 of ns::twice: blocks 3 1 and warps 1 of block 0 and warps 2 0 of block 0,1; launch 3: "
           "blocks 2",
       })
    EXPECT_EQ(to_text(schedule_from_text(text)), text);
}

TEST(Schedule, OfAnotherFormIsRefusedWithTheRightOne) {
  for (const char* const text :
       {"", "launch", "launch one: blocks 1", "launch 1 of twice blocks 1", "launch 1:", "launch 1: blocks",
        "launch 1: blocks 1 and", "launch 1: warps 1", "launch 1: blocks 1,2,3,4", "launch 1: blocks 1;",
        "launch 1: blocks 99999999999", "blocks 1", "launch 1: blocks -1", "launch 1: blocks 1 twice"}) {
    EXPECT_NE(why_not(text).find("write `launch 2 of KERNEL: blocks 3 1"), std::string::npos) << text;
  }
  EXPECT_EQ(why_not("launch one: blocks 1").find("the text ends or goes on otherwise behind `launch`; "), 0u);
}

TEST(Schedule, HasPlainWords) {
  EXPECT_EQ(in_plain_words(schedule_from_text("launch 1 of twice: blocks 1").front()),
            "in launch 1 of twice, block 1 begins first, then the others by index");
  EXPECT_EQ(in_plain_words(schedule_from_text("launch 3: blocks 3 0,1 and warps 1 of block 0").front()),
            "in launch 3, block 3 begins first, then block 0,1, then the others by index; in block 0, warp 1 "
            "goes first, then the others by index");
  EXPECT_EQ(in_plain_words(schedule_from_text("launch 3: warps 2 1 of block 0").front()),
            "in launch 3 in block 0, warp 2 goes first, then warp 1, then the others by index");
}

TEST(Schedule, NamesAKernelWithoutItsParameters) {
  EXPECT_EQ(name_in_schedule("(anonymous namespace)::twice(float*, unsigned int)"), "twice");
  EXPECT_EQ(name_in_schedule("void ns::twice<float, 4>(float*)"), "ns::twice<float,4>");
}

TEST(Schedule, SetsThoseThatItNamesBeforeTheOthers) {
  BlocksToBegin blocks(5, std::vector<std::uint64_t>{3, 1});
  blocks.go_on_by_index();
  std::vector<std::uint64_t> order;
  while (blocks.left() != 0) order.push_back(blocks.next());
  EXPECT_EQ(order, (std::vector<std::uint64_t>{3, 1, 0, 2, 4}));
  const BlockOrder warps = BlockOrder::after(4, {2, 0});
  EXPECT_EQ((std::vector<std::uint64_t>{warps.block(0), warps.block(1), warps.block(2), warps.block(3)}),
            (std::vector<std::uint64_t>{2, 0, 1, 3}));
}

TEST(Schedule, OfClustersIsThatOfTheirBlocks) {
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.cluster = {2, 1, 1};
  launch.schedule =
      std::make_shared<const LaunchSchedule>(schedule_from_text("launch 1: blocks 5 2 4 3").front());
  EXPECT_EQ(first_clusters(launch), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(first_in_cluster(launch, {2, 0, 0}), (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(first_in_cluster(launch, {3, 0, 0}), (std::vector<std::uint64_t>{}));
}

TEST(Schedule, MayNotFitALaunch) {
  Launch launch;
  launch.grid = {2, 2, 1};
  launch.block = {64, 1, 1};
  const auto misfit_of = [&](const std::string& text) {
    return misfit(schedule_from_text(text).front(), launch);
  };
  EXPECT_EQ(misfit_of("launch 1: blocks 1,1 0 and warps 1 0 of block 1"), "");
  EXPECT_EQ(misfit_of("launch 1: blocks 2"), "it has 2,2,1 blocks, and no block 2");
  EXPECT_EQ(misfit_of("launch 1: blocks 1 0 1"), "block 1 is named twice");
  EXPECT_EQ(misfit_of("launch 1: warps 2 of block 0"), "its blocks have 2 warps, and no warp 2");
  EXPECT_EQ(misfit_of("launch 1: warps 1 1 of block 0"), "warp 1 of block 0 is named twice");
  EXPECT_EQ(misfit_of("launch 1: warps 1 of block 0,0,1"), "it has 2,2,1 blocks, and no block 0,0,1");
}

// Each warp of each block takes a number, and stores it at its own place.
constexpr const char* kNumbers = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry numbers(.param .u64 to)
{
  .reg .u32 %r<8>;
  .reg .u64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 ret;
  mov.u32 %r3, %ctaid.x;
  shl.b32 %r3, %r3, 1;
  shr.u32 %r4, %r1, 5;
  add.u32 %r3, %r3, %r4;
  atom.global.add.u32 %r5, [%rd1], 1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+4], %r5;
  ret;
}
)";

std::vector<std::uint32_t> numbers_with(const std::string& text) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(7));
  Launch launch = launch_of("numbers", {3, 1, 1}, {64, 1, 1}, Arguments(memory));
  launch.schedule = std::make_shared<const LaunchSchedule>(schedule_from_text(text).front());
  const std::unique_ptr<Module> module = Module::parse(kNumbers);
  Observer observer(Tools{.race = true});
  launch.observer = &observer;
  expect_no_fault(module->run(launch, device));
  std::vector<std::uint32_t> all = device.read<std::uint32_t>(memory);
  return {all.begin() + 1, all.end()};
}

TEST(Schedule, IsFollowedByALaunch) {
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(numbers_with("launch 1: blocks 0"), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers_with("launch 1: blocks 2"), (Numbers{2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(numbers_with("launch 1: blocks 2 1"), (Numbers{4, 5, 2, 3, 0, 1}));
  EXPECT_EQ(numbers_with("launch 1: blocks 1 and warps 1 of block 2"), (Numbers{2, 3, 0, 1, 5, 4}));
}

}  // namespace schedule_test
}  // namespace opgate::simulator::tests
