// mma.m8n8k4 of halves, four products at once, with the formulas of the manual.
#include <random>

#include "both_ways.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace quad_mma_test {

// For each lane: 2 words of a, 2 of b, 8 of c, 8 of d.
constexpr unsigned kWords = 20;

unsigned product_of_lane(unsigned lane) { return lane % 16 / 4; }
unsigned four_from_16_on(unsigned lane) { return lane < 16 ? 0 : 4; }

struct Position {
  unsigned row;
  unsigned column;
};

Position position_in_a(unsigned lane, unsigned i, bool by_columns) {
  if (by_columns) return {i % 4 + four_from_16_on(lane), lane % 4};
  return {lane % 4 + four_from_16_on(lane), i};
}

Position position_in_b(unsigned lane, unsigned i, bool by_columns) {
  if (by_columns) return {i, lane % 4 + four_from_16_on(lane)};
  return {lane % 4, i + four_from_16_on(lane)};
}

Position position_in_c(unsigned lane, unsigned i, bool is_half) {
  if (is_half) return {lane % 4 + four_from_16_on(lane), i};
  return {(lane & 1) + (i & 2) + four_from_16_on(lane), (i & 4) + (lane & 2) + (i & 1)};
}

/// The registers of a warp, as elements.
struct Registers {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(32 * std::size_t{kWords});

  void set(unsigned lane, unsigned first, unsigned i, bool is_half, double value) {
    if (!is_half) {
      words[lane * kWords + first + i] = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      return;
    }
    const auto bits = static_cast<std::uint32_t>(half_format().bits(Quad(value)));
    words[lane * kWords + first + i / 2] |= bits << i % 2 * 16;
  }
  double get(unsigned lane, unsigned first, unsigned i, bool is_half) const {
    if (!is_half) return std::bit_cast<float>(words[lane * kWords + first + i]);
    const std::uint32_t word = words[lane * kWords + first + i / 2];
    return static_cast<double>(half_format().number(static_cast<std::uint16_t>(word >> i % 2 * 16)));
  }
};

std::string list(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "{%w" : ", %w") + std::to_string(first + i);
  return text + "}";
}

std::string kernel(const std::string& opcode, bool c_is_half, bool d_is_half) {
  std::string body = ".reg .b32 %w<20>; mul.wide.u32 %rd2, %r1, 80; add.u64 %rd2, %rd2, %rd1;\n";
  for (unsigned i = 0; i < 12; ++i)
    body += "ld.global.b32 %w" + std::to_string(i) + ", [%rd2+" + std::to_string(4 * i) + "];\n";
  body += opcode + " " + list(12, d_is_half ? 4 : 8) + ", " + list(0, 2) + ", " + list(2, 2) + ", " +
          list(4, c_is_half ? 4 : 8) + ";\n";
  for (unsigned i = 12; i < (d_is_half ? 16u : 20u); ++i)
    body += "st.global.b32 [%rd2+" + std::to_string(4 * i) + "], %w" + std::to_string(i) + ";\n";
  return kernel_of(body);
}

using Matrix = std::array<std::array<int, 8>, 8>;

TEST(SimulatedQuadProducts, OfEachLayoutAndType) {
  std::mt19937 random(3);
  for (unsigned form = 0; form < 16; ++form) {
    const bool a_by_columns = (form & 1) != 0;
    const bool b_by_columns = (form & 2) != 0;
    const bool c_is_half = (form & 4) != 0;
    const bool d_is_half = (form & 8) != 0;
    std::array<Matrix, 4> a{};
    std::array<Matrix, 4> b{};
    std::array<Matrix, 4> c{};
    for (auto* const matrices : {&a, &b, &c}) {
      for (Matrix& matrix : *matrices) {
        for (auto& row : matrix) {
          for (int& value : row) value = static_cast<int>(random() % 21) - 10;
        }
      }
    }
    Registers before;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned product = product_of_lane(lane);
      for (unsigned i = 0; i < 8; ++i) {
        const Position in_a = position_in_a(lane, i, a_by_columns);
        const Position in_b = position_in_b(lane, i, b_by_columns);
        const Position in_c = position_in_c(lane, i, c_is_half);
        if (i < 4) before.set(lane, 0, i, true, a[product][in_a.row][in_a.column]);
        if (i < 4) before.set(lane, 2, i, true, b[product][in_b.row][in_b.column]);
        before.set(lane, 4, i, c_is_half, c[product][in_c.row][in_c.column]);
      }
    }
    const std::string opcode = std::string("mma.sync.aligned.m8n8k4.") + (a_by_columns ? "col." : "row.") +
                               (b_by_columns ? "col." : "row.") + (d_is_half ? "f16" : "f32") + ".f16.f16." +
                               (c_is_half ? "f16" : "f32");
    const Ran ran = run_both_ways(kernel(opcode, c_is_half, d_is_half),
                                  [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
                                    results.push_back(device.allocate(before.words));
                                    return launch_of("k", {}, {32}, Arguments(results.front()));
                                  });
    expect_no_fault(ran.outcome);
    Registers after;
    std::memcpy(after.words.data(), ran.memory.front().data(), ran.memory.front().size());
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned product = product_of_lane(lane);
      for (unsigned i = 0; i < 8; ++i) {
        const auto [row, column] = position_in_c(lane, i, d_is_half);
        int sum = c[product][row][column];
        for (std::size_t k = 0; k < 4; ++k) sum += a[product][row][k] * b[product][k][column];
        EXPECT_EQ(after.get(lane, 12, i, d_is_half), sum) << opcode << " lane " << lane << " element " << i;
      }
    }
  }
}

TEST(SimulatedQuadProducts, OnlyOfHalves) {
  FakeDevice device;
  const std::string opcode = "mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32";
  const Outcome outcome =
      run(device, kernel(opcode, false, false), {}, {32}, Arguments(device.allocate(Registers().words)));
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::unsupported));
  EXPECT_EQ(outcome.message, opcode);
}

}  // namespace quad_mma_test
}  // namespace opgate::simulator::tests
