// Kernels from nvcc that use matrices, copies that are waited for, and barriers in shared memory.
#include <random>

#include "both_ways.h"
#include "kernels/kernels.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace nvcc_matrix_test {

/// Rows of small whole numbers, whose products are exact in every order.
std::vector<std::vector<int>> random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> matrix(rows, std::vector<int>(columns));
  for (std::vector<int>& row : matrix) {
    for (int& value : row) value = static_cast<int>(random() % 17) - 8;
  }
  return matrix;
}

std::vector<std::uint16_t> in_halves(const std::vector<std::vector<int>>& matrix) {
  std::vector<std::uint16_t> halves;
  for (const std::vector<int>& row : matrix) {
    for (const int value : row) halves.push_back(static_cast<std::uint16_t>(half_format().bits(Quad(value))));
  }
  return halves;
}

template <class T>
std::vector<T> as(const std::vector<unsigned char>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Rows of `a` times rows of `b`, both of which lie along k.
float product_of(const std::vector<std::vector<int>>& a, const std::vector<std::vector<int>>& b,
                 std::size_t row, std::size_t column) {
  int sum = 0;
  for (std::size_t k = 0; k < a[row].size(); ++k) sum += a[row][k] * b[column][k];
  return static_cast<float>(sum);
}

TEST(SimulatedMatrixKernels, FragmentsOfWmma) {
  const auto a = random_matrix(16, 64, 1);
  const auto b = random_matrix(16, 64, 2);
  for (const char* const ptx : {ptx::matrix, ptx::whole_of_cuda_12}) {
    const Ran ran = run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
      results.push_back(device.allocate(std::vector<float>(256)));
      return launch_of(
          "multiply_tiles", {}, {32},
          Arguments(results[0], device.allocate(in_halves(a)), device.allocate(in_halves(b)), 64));
    });
    expect_no_fault(ran.outcome);
    const std::vector<float> out = as<float>(ran.memory[0]);
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], product_of(a, b, i / 16, i % 16) / 2) << i;
  }
}

TEST(SimulatedMatrixKernels, CopiesAndLdmatrixAndMma) {
  const auto a = random_matrix(48, 80, 3);
  const auto b = random_matrix(40, 80, 4);
  const Ran ran = run_both_ways(ptx::matrix, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(std::vector<float>(48 * 40)));
    return launch_of(
        "multiply_by_mma", {5, 3}, {32},
        Arguments(results[0], device.allocate(in_halves(a)), device.allocate(in_halves(b)), 80, 40));
  });
  expect_no_fault(ran.outcome);
  const std::vector<float> out = as<float>(ran.memory[0]);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], product_of(a, b, i / 40, i % 40)) << i;
}

constexpr int kChunks = 5;

std::vector<float> sums_of(const std::vector<float>& in, bool waits) {
  const Ran ran = run_both_ways(ptx::matrix, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(std::vector<float>(32)));
    return launch_of("sum_chunks", {}, {32}, Arguments(results[0], device.allocate(in), kChunks, waits));
  });
  expect_no_fault(ran.outcome);
  return as<float>(ran.memory[0]);
}

TEST(SimulatedMatrixKernels, AMissingWaitReadsWhatWasThereBefore) {
  std::mt19937 random(5);
  std::vector<float> in(std::size_t{kChunks} * 32 * 4);
  for (float& value : in) value = static_cast<float>(random() % 100);
  std::vector<float> expected(32);
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
    for (std::size_t i = 0; i < 32; ++i) {
      const float* const value = &in[(chunk * 32 + 31 - i) * 4];
      expected[i] += value[0] + value[1] * value[2] + value[3];
    }
  }
  EXPECT_EQ(sums_of(in, true), expected);
  // New shared memory holds NaN, and nothing has been copied there.
  for (const float sum : sums_of(in, false)) EXPECT_NE(sum, sum);
}

TEST(SimulatedMatrixKernels, BarriersOfLibcudacxx) {
  std::vector<int> in(64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(10 * i);
  const Ran ran = run_both_ways(ptx::barrier, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(std::vector<int>(64)));
    return launch_of("rotate_by_barrier", {}, {64}, Arguments(results[0], device.allocate(in), 7));
  });
  expect_no_fault(ran.outcome);
  const std::vector<int> out = as<int>(ran.memory[0]);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], in[(i + 7) % 64] + 7) << i;
}

TEST(SimulatedMatrixKernels, BulkCopiesOfLibcudacxx) {
  std::vector<int> in(128);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(3 * i);
  const Ran ran = run_both_ways(ptx::barrier, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(std::vector<int>(128)));
    return launch_of("copy_in_bulk", {}, {64}, Arguments(results[0], device.allocate(in)));
  });
  expect_no_fault(ran.outcome);
  const std::vector<int> out = as<int>(ran.memory[0]);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], in[i] + 1000) << i;
}

}  // namespace nvcc_matrix_test
}  // namespace opgate::simulator::tests
