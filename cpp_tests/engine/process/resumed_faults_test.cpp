// Memory between rows: a reader of a dense tensor touches it, is noted and goes on; others never touch it.
#include "crashes/resumed_faults.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>

#include "memory/separated_rows.h"

namespace opgate {
namespace {

[[gnu::noinline]] float sum_as_dense(const float* values, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += *const_cast<const volatile float*>(values + i);
  return sum;
}

bool is_noted(const at::Tensor& values, void (*read)(const at::Tensor&)) {
  const std::optional<SeparatedRows> rows = separate_rows(values);
  EXPECT_TRUE(rows);
  EXPECT_TRUE(at::equal(rows->tensor, values));
  const ResumedFaults faults(rows->begin, rows->bytes);
  read(rows->tensor);
  return faults.has_any();
}

at::Tensor numbers(at::IntArrayRef sizes) {
  return at::arange(c10::multiply_integers(sizes), at::kFloat).view(sizes);
}

void read_as_dense(const at::Tensor& tensor) {
  static_cast<void>(sum_as_dense(tensor.const_data_ptr<float>(), tensor.numel()));
}

TEST(ResumedFaultsTest, ADenseReadIsNotedForAnySizesAndGoesOn) {
  for (const at::Tensor& values : {numbers({2}), numbers({5, 7}), numbers({1, 3, 2000}), numbers({3, 1024})})
    EXPECT_TRUE(is_noted(values, &read_as_dense)) << values.sizes();
}

TEST(ResumedFaultsTest, ARightReadIsNot) {
  for (const at::Tensor& values : {numbers({2}), numbers({5, 7}), numbers({1, 3, 2000}), numbers({3, 1024})})
    EXPECT_FALSE(is_noted(values, [](const at::Tensor& tensor) { tensor.sum(); })) << values.sizes();
}

TEST(ResumedFaultsTest, AReadFromTheStartOfTheStorageIsNoted) {
  EXPECT_TRUE(is_noted(numbers({5, 7}), [](const at::Tensor& tensor) {
    static_cast<void>(sum_as_dense(static_cast<const float*>(tensor.storage().data()), 1));
  }));
}

TEST(ResumedFaultsTest, AReadOfAnotherThreadIsNoted) {
  EXPECT_TRUE(is_noted(numbers({5, 7}),
                       [](const at::Tensor& tensor) { std::thread([&] { read_as_dense(tensor); }).join(); }));
}

TEST(ResumedFaultsTest, WithoutTwoRowsThereIsNothingBetweenThem) {
  EXPECT_FALSE(separate_rows(numbers({1, 1})));
  EXPECT_FALSE(separate_rows(numbers({0, 4})));
  EXPECT_FALSE(separate_rows(numbers({1000, 2})));
}

TEST(ResumedFaultsDeathTest, AFaultElsewhereEndsTheProcess) {
  const std::optional<SeparatedRows> rows = separate_rows(numbers({5, 7}));
  void* const other = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EXIT(
      {
        const ResumedFaults faults(rows->begin, rows->bytes);
        static_cast<void>(sum_as_dense(static_cast<const float*>(other), 1));
      },
      ::testing::KilledBySignal(SIGSEGV), "");
  munmap(other, 4096);
}

}  // namespace
}  // namespace opgate
