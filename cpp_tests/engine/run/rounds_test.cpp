// What a bench gives its two sides from round to round, and what it sees of their results.
#include <ATen/ops/arange.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "bench/rounds.h"
#include "support.h"

namespace opgate::rounds_test {
namespace {

using testing::same_bits;

at::Tensor counted_floats(int64_t count) { return at::arange(count, at::kFloat); }

TEST(ChangingInputs, GivesOtherValuesOfTheDomainAtTheSameAddress) {
  const at::Tensor x = at::zeros({100}, at::kFloat), index = at::zeros({100}, at::kLong);
  const void* const address = x.const_data_ptr();
  ChangingInputs inputs({{x, {"uniform", {2, 3}}}, {index, {"indices", {7}}}});
  at::Tensor before = x.clone();
  for (int round = 0; round < 3; ++round) {
    inputs.change();
    EXPECT_FALSE(same_bits(x, before));
    before = x.clone();
    EXPECT_GE(x.min().item<float>(), 2);
    EXPECT_LT(x.max().item<float>(), 3);
    EXPECT_LT(index.max().item<int64_t>(), 7);
  }
  EXPECT_EQ(x.const_data_ptr(), address);
}

TEST(ChangingInputs, LeavesValuesThatAreValidOnlyTogether) {
  const at::Tensor boxes = counted_floats(8), offsets = at::arange(5);
  const at::Tensor before = boxes.clone(), offsets_before = offsets.clone();
  ChangingInputs inputs({{boxes, {"literal", {0, 1, 2, 3, 4, 5, 6, 7}}}, {offsets, {"offsets", {4}}}});
  inputs.change();
  inputs.change_one_element();
  EXPECT_TRUE(same_bits(boxes, before));
  EXPECT_TRUE(same_bits(offsets, offsets_before));
}

TEST(ChangingInputs, RollsLargeTensors) {
  const at::Tensor x = counted_floats(100000);
  const at::Tensor before = x.clone();
  ChangingInputs inputs({{x, {"uniform", {}}}});
  inputs.change();
  EXPECT_FALSE(same_bits(x, before));
  EXPECT_TRUE(same_bits(std::get<0>(x.sort()), before));
}

TEST(ChangingInputs, ChangesOneElement) {
  const at::Tensor x = at::zeros({50}, at::kFloat);
  ChangingInputs inputs({{x, {"uniform", {1, 2}}}});
  inputs.change_one_element();
  EXPECT_EQ(x.ne(0).sum().item<int64_t>(), 1);
}

TEST(RoundResult, SeesWhatIsWrittenLater) {
  at::Tensor late = at::zeros({4});
  const RoundResult result({c10::IValue(late), c10::IValue(at::Tensor())});
  EXPECT_FALSE(result.has_changed());
  late.fill_(1);
  EXPECT_TRUE(result.has_changed());
  EXPECT_EQ(result.outcome().returned().at(0).sum().item<float>(), 0);
}

TEST(ThreadCount, CountsThreadsThatRun) {
  start_thread_pool();
  const size_t before = thread_count();
  std::atomic<bool> done = false;
  std::thread runs([&] { done.wait(false); });
  EXPECT_EQ(thread_count(), before + 1);
  done = true;
  done.notify_all();
  runs.join();
}

}  // namespace
}  // namespace opgate::rounds_test
