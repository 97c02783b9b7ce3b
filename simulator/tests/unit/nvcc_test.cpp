// Whole kernels from the compilers of CUDA 13 and of CUDA 12, against the same computation by the host.
#include <bit>
#include <cmath>
#include <random>

#include "fake_device.h"
#include "kernels/kernels.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace nvcc_test {

struct Compiler {
  const char *name, *ptx;
};
void PrintTo(const Compiler& compiler, std::ostream* out) { *out << compiler.name; }

class SimulatedCompiled : public testing::TestWithParam<Compiler> {
 protected:
  Outcome run_compiled(const std::string& kernel, Extent grid, Extent block, const Arguments& arguments) {
    const std::unique_ptr<Module> module = Module::parse(GetParam().ptx);
    EXPECT_NE(module->find(kernel), nullptr);
    return module->run(launch_of(kernel, grid, block, arguments), device);
  }
  FakeDevice device;
};

INSTANTIATE_TEST_SUITE_P(Each, SimulatedCompiled,
                         testing::Values(Compiler{"Cuda13For80", ptx::whole},
                                         Compiler{"Cuda12For70", ptx::whole_of_cuda_12}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(SimulatedCompiled, HalvesAndFunctions) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-3, 3);
  std::vector<std::uint16_t> in(2000);
  for (std::uint16_t& bits : in) bits = static_cast<std::uint16_t>(half_format().bits(Quad(number(random))));
  const std::uint64_t from = device.allocate(in);
  const std::uint64_t to = device.allocate(std::vector<std::uint16_t>(in.size()));
  expect_no_fault(run_compiled("gelu_half", {8}, {128}, Arguments(to, from, 1000)));
  const std::vector<std::uint16_t> out = device.read<std::uint16_t>(to);
  for (std::size_t i = 0; i < in.size(); i += 2) {
    const double x = half_format().number(in[i]);
    const double y = half_format().number(in[i + 1]);
    EXPECT_NEAR(half_format().number(out[i]), 0.5 * x * (1 + std::erf(x * 0.70710678)), 2e-3) << x;
    EXPECT_NEAR(half_format().number(out[i + 1]), std::exp(y) / (1 + y * y), 2e-3) << y;
  }
}

TEST_P(SimulatedCompiled, SumOfBlocks) {
  std::mt19937 random(2);
  std::vector<float> in(3001);
  double sum = 0;
  for (float& value : in) {
    value = static_cast<float>(random() % 1000);  // so that every order gives the same sum
    sum += value;
  }
  const std::uint64_t from = device.allocate(in);
  const std::uint64_t to = device.allocate(std::vector<float>(1));
  expect_no_fault(run_compiled("block_sums", {5}, {192}, Arguments(to, from, static_cast<int>(in.size()))));
  EXPECT_EQ(device.read<float>(to)[0], static_cast<float>(sum));
}

std::uint64_t reversed(std::uint64_t value) {
  std::uint64_t result = 0;
  for (int i = 0; i < 64; ++i) result = result << 1 | (value >> i & 1);
  return result;
}

std::uint64_t hashed(std::uint64_t h, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    const auto high =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(h) * 0x9E3779B97F4A7C15u) >> 64);
    h = high ^ std::rotl(h, 7) ^ (h % 1000003) ^ static_cast<std::uint64_t>(std::popcount(h));
    const std::int64_t divisor = k - 5 != 0 ? k - 5 : 1;
    h += static_cast<std::uint64_t>(static_cast<std::int64_t>(h) / divisor);
    // The bytes 1, 4, 7 and 2, lowest first.
    const std::uint64_t bytes =
        (h >> 8 & 0xff) | (h >> 32 & 0xff) << 8 | (h >> 56 & 0xff) << 16 | (h >> 16 & 0xff) << 24;
    h ^= reversed(h) ^ bytes;
  }
  return h;
}

TEST_P(SimulatedCompiled, IntegersOf64Bits) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> in(64);
  for (std::uint64_t& value : in) value = random();
  in[0] = 0;
  in[1] = ~std::uint64_t{0};
  const std::uint64_t from = device.allocate(in);
  const std::uint64_t to = device.allocate(std::vector<std::uint64_t>(64));
  expect_no_fault(run_compiled("hash", {}, {64}, Arguments(to, from, 20)));
  const std::vector<std::uint64_t> out = device.read<std::uint64_t>(to);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], hashed(in[i], 20)) << in[i];
}

TEST_P(SimulatedCompiled, RecursionOnLocalMemory) {
  const std::vector<double> in{1, -2, 0.5, 3, 0.25, -1, 2, 1.5, 0.75};
  const std::uint64_t from = device.allocate(in);
  const std::uint64_t to = device.allocate(std::vector<double>(40));
  expect_no_fault(run_compiled("polynomial", {}, {40}, Arguments(to, from, 8)));
  const std::vector<double> out = device.read<double>(to);
  for (int i = 0; i < 40; ++i) {
    double expected = 0;
    for (int k = 7; k >= 0; --k) expected = std::fma(expected, in[8], in[static_cast<std::size_t>(k)] + i);
    EXPECT_EQ(out[static_cast<std::size_t>(i)], expected);
  }
}

}  // namespace nvcc_test
}  // namespace opgate::simulator::tests
