// What the tool `race` remembers of acquiring accesses: as much as there are, whatever their threads know.
#include "watch/race/acquisitions.h"

#include <gtest/gtest.h>

#include "watch/race/race_detector.h"

namespace opgate::simulator::tests {
namespace acquisitions_test {

constexpr std::uint32_t kThreads = 32;
constexpr std::uint64_t kMemory = 4096;

Annotation acquiring(Annotation::Kind kind) {
  Annotation how{{.kind = kind, .space = Space::global, .bytes = 4, .is_strong = true, .acquires = true}};
  how.releases = kind == Annotation::Kind::atomic;
  how.number(1);
  return how;
}

Annotation plain(Annotation::Kind kind) {
  Annotation how{{.kind = kind, .space = Space::global, .bytes = 4}};
  how.number(2);
  return how;
}

struct Blocks {
  RaceDetector detector;
  std::size_t races = 0;

  Blocks() { detector.begin(1, 0, 1); }
  BlockRaces block(std::uint32_t number) {
    BlockRaces block;
    block.start(number, kThreads, detector.clusters(), detector.acquisitions());
    return block;
  }
  void access(BlockRaces& block, const Annotation& how, std::uint64_t address, std::uint32_t thread) {
    detector.access(block, {&how, Space::global, address, thread},
                    [&](const RaceDetector::Race&) { ++races; });
  }
};

// As Triton adds to rows of a small tensor: one atomic access of each thread for each row.
std::size_t remembered(std::uint32_t blocks, std::uint32_t rows) {
  const Annotation add = acquiring(Annotation::Kind::atomic);
  Blocks all;
  for (std::uint32_t number = 1; number <= blocks; ++number) {
    BlockRaces block = all.block(number);
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t thread = 0; thread < kThreads; ++thread)
        all.access(block, add, kMemory + 4 * (row * kThreads + thread), thread);
      block.meet_all();
    }
  }
  EXPECT_EQ(all.races, 0u);
  return all.detector.acquisitions().size();
}

TEST(Acquisitions, GrowWithTheAccesses) {
  EXPECT_LE(remembered(8, 8), 2u * 8 * 8 * kThreads);
  EXPECT_LE(remembered(8, 64), 2u * 8 * 64 * kThreads);
  EXPECT_LE(remembered(64, 8), 2u * 64 * 8 * kThreads);
}

TEST(Acquisitions, DoNotGrowWhileAThreadPolls) {
  const Annotation add = acquiring(Annotation::Kind::atomic);
  const Annotation look = acquiring(Annotation::Kind::load);
  Blocks all;
  BlockRaces first = all.block(1);
  for (const std::uint64_t flag : {0, 4, 8}) all.access(first, add, kMemory + flag, 0);
  BlockRaces second = all.block(2);
  for (int turn = 0; turn < 1000; ++turn) {
    for (const std::uint64_t flag : {0, 4, 8}) all.access(second, look, kMemory + flag, 1);
    if (turn % 10 == 0) second.meet_all();
  }
  EXPECT_LE(all.detector.acquisitions().size(), 10u);
}

// Each block adds to the place of the one before it and to its own: the last one knows the first one's store
// by way of all others, and only if none is left out.
std::size_t races_of_chain(std::uint32_t blocks, std::uint32_t left_out) {
  const Annotation add = acquiring(Annotation::Kind::atomic);
  const Annotation store = plain(Annotation::Kind::store);
  const Annotation load = plain(Annotation::Kind::load);
  Blocks all;
  for (std::uint32_t number = 1; number <= blocks; ++number) {
    BlockRaces block = all.block(number);
    if (number == 1) all.access(block, store, kMemory, 3);
    block.meet_all();
    if (number != left_out) all.access(block, add, kMemory + 64 + 4 * number, 5);
    block.meet_all();
    if (number == blocks) all.access(block, load, kMemory, 7);
    block.meet_all();
    all.access(block, add, kMemory + 64 + 4 * (number + 1), 9);
  }
  return all.races;
}

TEST(Acquisitions, LeadThroughBlocksThatHaveReleased) {
  EXPECT_EQ(races_of_chain(300, 0), 0u);
  for (const std::uint32_t left_out : {2, 150, 300}) EXPECT_EQ(races_of_chain(300, left_out), 1u) << left_out;
}

}  // namespace acquisitions_test
}  // namespace opgate::simulator::tests
