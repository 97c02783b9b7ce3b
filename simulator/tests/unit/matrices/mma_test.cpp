// mma: each shape and type, with registers filled by the formulas of the manual.
#include <cmath>
#include <random>
#include <regex>
#include <utility>

#include "both_ways.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace mma_test {

/// Row and column of the element with index `i` of a lane, whose group is lane / 4 and whose place in it is
/// lane % 4.
struct Position {
  int row;
  int column;
};
using Formula = Position (*)(int group, int place, int i);

Position c_of_16_rows(int group, int place, int i) {
  return {i < 2 ? group : group + 8, place * 2 + (i & 1)};
}
Position c_of_8_rows(int group, int place, int i) { return {group, place * 2 + i}; }

struct Case {
  std::string shape;
  std::string types;  ///< of d, a, b and c
  int m, n, k;
  Formula a, b, c;
};

// The formulas of sections "Matrix Fragments for mma.m16n8k16 with floating point type" and so on.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list;
    const Formula a16x8 = [](int g, int p, int i) { return Position{i < 2 ? g : g + 8, p * 2 + (i & 1)}; };
    const Formula b8 = [](int g, int p, int i) { return Position{p * 2 + i, g}; };
    const Formula a16x16 = [](int g, int p, int i) {
      return Position{i < 2 || (i >= 4 && i < 6) ? g : g + 8, p * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    };
    const Formula b16 = [](int g, int p, int i) { return Position{p * 2 + (i & 1) + (i >= 2 ? 8 : 0), g}; };
    for (const char* const types : {"f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32"}) {
      list.push_back({"m16n8k8", types, 16, 8, 8, a16x8, b8, c_of_16_rows});
      list.push_back({"m16n8k16", types, 16, 8, 16, a16x16, b16, c_of_16_rows});
    }
    const Formula a16x4 = [](int g, int p, int i) { return Position{i == 0 ? g : g + 8, p}; };
    const Formula b4 = [](int g, int p, int) { return Position{p, g}; };
    const Formula a16x8_words = [](int g, int p, int i) {
      return Position{i == 0 || i == 2 ? g : g + 8, i < 2 ? p : p + 4};
    };
    const Formula b8_words = [](int g, int p, int i) { return Position{i == 0 ? p : p + 4, g}; };
    const Formula a16x16_words = [](int g, int p, int i) {
      return i % 2 == 0 ? Position{g, i * 2 + p} : Position{g + 8, i * 2 - 2 + p};
    };
    const Formula b16_words = [](int g, int p, int i) { return Position{p + i * 4, g}; };
    list.push_back({"m16n8k4", "f32.tf32.tf32.f32", 16, 8, 4, a16x4, b4, c_of_16_rows});
    list.push_back({"m16n8k8", "f32.tf32.tf32.f32", 16, 8, 8, a16x8_words, b8_words, c_of_16_rows});
    const Formula a8x4 = [](int g, int p, int) { return Position{g, p}; };
    list.push_back({"m8n8k4", "f64.f64.f64.f64", 8, 8, 4, a8x4, b4, c_of_8_rows});
    list.push_back({"m16n8k4", "f64.f64.f64.f64", 16, 8, 4, a16x4, b4, c_of_16_rows});
    list.push_back({"m16n8k8", "f64.f64.f64.f64", 16, 8, 8, a16x8_words, b8_words, c_of_16_rows});
    list.push_back({"m16n8k16", "f64.f64.f64.f64", 16, 8, 16, a16x16_words, b16_words, c_of_16_rows});
    const Formula a8x16 = [](int g, int p, int i) { return Position{g, p * 4 + i}; };
    const Formula b16_bytes = [](int g, int p, int i) { return Position{p * 4 + i, g}; };
    const Formula a16x16_bytes = [](int g, int p, int i) {
      return Position{i < 4 ? g : g + 8, p * 4 + (i & 3)};
    };
    const Formula a16x32 = [](int g, int p, int i) {
      return Position{i < 4 || (i >= 8 && i < 12) ? g : g + 8, p * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    };
    const Formula b32 = [](int g, int p, int i) { return Position{p * 4 + (i & 3) + (i >= 4 ? 16 : 0), g}; };
    for (const char* const types : {"s32.s8.s8.s32", "s32.s8.u8.s32", "s32.u8.s8.s32", "s32.u8.u8.s32"}) {
      list.push_back({"m8n8k16", types, 8, 8, 16, a8x16, b16_bytes, c_of_8_rows});
      list.push_back({"m16n8k16", types, 16, 8, 16, a16x16_bytes, b16_bytes, c_of_16_rows});
      list.push_back({"m16n8k32", types, 16, 8, 32, a16x32, b32, c_of_16_rows});
    }
    for (const char* const types : {"f32.e4m3.e4m3.f32", "f32.e4m3.e5m2.f32", "f16.e5m2.e4m3.f16"}) {
      list.push_back({"m16n8k16", types, 16, 8, 16, a16x16_bytes, b16_bytes, c_of_16_rows});
      list.push_back({"m16n8k32", types, 16, 8, 32, a16x32, b32, c_of_16_rows});
    }
    return list;
  }();
  return all;
}

std::vector<std::string> types_of(const std::string& text) {
  std::vector<std::string> types;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    types.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return types;
}

unsigned bytes_of(const std::string& type) {
  if (type == "f64") return 8;
  if (type == "f16" || type == "bf16") return 2;
  return type == "f32" || type == "tf32" || type == "s32" ? 4 : 1;
}

std::uint64_t encoded(const std::string& type, double value) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto magnitude = static_cast<std::size_t>(std::abs(value));
  const std::uint64_t sign = value < 0 ? 0x80 : 0;
  if (type == "f64") return std::bit_cast<std::uint64_t>(value);
  if (type == "f32") return single;
  if (type == "tf32") return single | 0x1fff;  // bits of which the hardware takes no notice
  if (type == "bf16") return single >> 16;
  if (type == "f16") return half_format().bits(Quad(value));
  if (type == "e4m3") return sign | std::array<std::uint64_t, 4>{0, 0x38, 0x40, 0x44}.at(magnitude);
  if (type == "e5m2") return sign | std::array<std::uint64_t, 4>{0, 0x3c, 0x40, 0x42}.at(magnitude);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & (type == "s32" ? 0xffffffff : 0xff);
}

double decoded(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == "f16") return static_cast<double>(half_format().number(static_cast<std::uint16_t>(bits)));
  return static_cast<std::int32_t>(bits);
}

/// Where the registers of a lane are in memory, in bytes.
constexpr std::size_t kLane = 256;
constexpr std::array<std::size_t, 4> kMatrix{192, 0, 64, 128};  // d, a, b, c

struct Registers {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(32 * kLane);

  // Elements follow each other in memory as they do in registers.
  void set(int lane, int matrix, int i, const std::string& type, double value) {
    const std::uint64_t bits = encoded(type, value);
    std::memcpy(&bytes[at(lane, matrix, i, type)], &bits, bytes_of(type));
  }
  double get(int lane, int matrix, int i, const std::string& type) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes[at(lane, matrix, i, type)], bytes_of(type));
    return decoded(type, bits);
  }
  static std::size_t at(int lane, int matrix, int i, const std::string& type) {
    return static_cast<std::size_t>(lane) * kLane + kMatrix.at(static_cast<std::size_t>(matrix)) +
           static_cast<std::size_t>(i) * bytes_of(type);
  }
};

/// Elements that a lane holds of d, a, b and c.
std::array<int, 4> counts_of(const Case& one) {
  return {one.m * one.n / 32, one.m * one.k / 32, one.k * one.n / 32, one.m * one.n / 32};
}

std::string kernel_of(const Case& one, const std::string& opcode) {
  const std::vector<std::string> types = types_of(one.types);
  const std::array<int, 4> counts = counts_of(one);
  const bool wide = types[0] == "f64";
  const std::string word = wide ? ".b64" : ".b32";
  std::array<std::string, 4> lists;
  std::string loads;
  std::string stores;
  for (std::size_t matrix = 0; matrix < 4; ++matrix) {
    const unsigned step = wide ? 8 : 4;
    for (unsigned i = 0; i * step < static_cast<unsigned>(counts.at(matrix)) * bytes_of(types[matrix]); ++i) {
      const std::string name = "%" + std::string(1, "dabc"[matrix]) + std::to_string(i);
      lists.at(matrix) += (i == 0 ? "" : ", ") + name;
      const std::string where = "[%rd2+" + std::to_string(kMatrix.at(matrix) + i * step) + "]";
      loads += "ld.global" + word + " " + name + ", " + where + ";\n";
      if (matrix == 0) stores += "st.global" + word + " " + where + ", " + name + ";\n";
    }
  }
  return tests::kernel_of(".reg " + word + " %a<9>, %b<9>, %c<9>, %d<9>;\nmul.wide.u32 %rd2, %r1, " +
                          std::to_string(kLane) + "; add.u64 %rd2, %rd2, %rd1;\n" + loads + opcode + " {" +
                          lists[0] + "}, {" + lists[1] + "}, {" + lists[2] + "}, {" + lists[3] + "};\n" +
                          stores);
}

Registers registers_of(const std::string& kernel, const Registers& before) {
  const Ran ran = run_both_ways(kernel, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(before.bytes));
    return launch_of("k", {}, {32}, Arguments(results.front()));
  });
  expect_no_fault(ran.outcome);
  return {ran.memory.front()};
}

Registers registers_after(const Case& one, const std::string& opcode, const Registers& before) {
  return registers_of(kernel_of(one, opcode), before);
}

std::string opcode_of(const Case& one, const std::string& extra = "") {
  return "mma.sync.aligned." + one.shape + ".row.col." + extra + one.types;
}

using Value = std::function<double(int row, int column)>;

/// The product of matrices that are given element by element.
std::vector<std::vector<double>> product_of(const Case& one, const Value& a, const Value& b, const Value& c,
                                            const std::string& extra = "") {
  const std::vector<std::string> types = types_of(one.types);
  const std::array<int, 4> counts = counts_of(one);
  Registers registers;
  for (int lane = 0; lane < 32; ++lane) {
    const auto fill = [&](int matrix, Formula formula, const Value& value) {
      for (int i = 0; i < counts.at(static_cast<std::size_t>(matrix)); ++i) {
        const Position at = formula(lane >> 2, lane % 4, i);
        registers.set(lane, matrix, i, types[static_cast<std::size_t>(matrix)], value(at.row, at.column));
      }
    };
    fill(1, one.a, a);
    fill(2, one.b, b);
    fill(3, one.c, c);
  }
  registers = registers_after(one, opcode_of(one, extra), registers);
  std::vector<std::vector<double>> d(static_cast<std::size_t>(one.m),
                                     std::vector<double>(static_cast<std::size_t>(one.n), -1e9));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < counts[0]; ++i) {
      const Position at = one.c(lane >> 2, lane % 4, i);
      d[static_cast<std::size_t>(at.row)][static_cast<std::size_t>(at.column)] =
          registers.get(lane, 0, i, types[0]);
    }
  }
  return d;
}

const Case& case_of(const std::string& shape, const std::string& types) {
  for (const Case& one : cases()) {
    if (one.shape == shape && one.types == types) return one;
  }
  throw std::runtime_error("no case " + shape + " " + types);
}

TEST(SimulatedMatrixProducts, OfEachShapeAndType) {
  std::mt19937 random(5);
  for (const Case& one : cases()) {
    const std::vector<std::string> types = types_of(one.types);
    // Small whole numbers, so that every sum is exact.
    const auto matrix = [&](int rows, int columns, int least, int most) {
      std::vector<std::vector<int>> values(static_cast<std::size_t>(rows));
      for (auto& row : values) {
        for (int i = 0; i < columns; ++i)
          row.push_back(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
      }
      return values;
    };
    const auto a = matrix(one.m, one.k, types[1] == "u8" ? 0 : -3, types[1] == "u8" ? 255 : 3);
    const auto b = matrix(one.k, one.n, types[2] == "u8" ? 0 : -3, types[2] == "u8" ? 255 : 3);
    const auto c = matrix(one.m, one.n, -100, 100);
    const auto value_of = [](const std::vector<std::vector<int>>& values) {
      return [&values](int row, int column) {
        return double{static_cast<double>(
            values.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column)))};
      };
    };
    const auto d = product_of(one, value_of(a), value_of(b), value_of(c));
    for (std::size_t i = 0; i < d.size(); ++i) {
      for (std::size_t j = 0; j < d[i].size(); ++j) {
        int sum = c[i][j];
        for (std::size_t k = 0; k < b.size(); ++k) sum += a[i][k] * b[k][j];
        EXPECT_EQ(d[i][j], sum) << opcode_of(one) << " " << i << " " << j;
      }
    }
  }
}

// Interpreted and compiled, products of any bits have the same bits.
TEST(SimulatedMatrixProducts, OfRandomBits) {
  std::mt19937 random(6);
  for (const Case& one : cases()) {
    Registers registers;
    for (unsigned char& byte : registers.bytes) byte = static_cast<unsigned char>(random());
    EXPECT_NE(registers_after(one, opcode_of(one), registers).bytes, registers.bytes) << opcode_of(one);
  }
}

double one(int, int) { return 1; }
double zero(int, int) { return 0; }

// A sum is exact but for what lies more than 25 bits after the leading one, which each product loses by
// itself.
// Neither their declarations nor their first uses put the registers of sums side by side.
TEST(SimulatedMatrixProducts, OfSumsInRegistersThatLieApart) {
  const auto apart = [](std::string kernel) {
    for (const auto& [name, other] :
         {std::pair("%c1", "%x1"), {"%c3", "%x3"}, {"%d1", "%x5"}, {"%d3", "%x7"}})
      kernel = std::regex_replace(kernel, std::regex(std::string(name) + "\\b"), other);
    return std::regex_replace(kernel, std::regex("mul\\.wide\\.u32 %rd2"),
                              ".reg .b32 %x<9>; mov.b32 %x7, 0; mov.b32 %x5, 0; mov.b32 %x3, 0; "
                              "mov.b32 %x1, 0;\n$&");
  };
  std::mt19937 random(3);
  for (const Case& one : cases()) {
    if (types_of(one.types)[0] == "f64") continue;
    Registers registers;
    for (unsigned char& byte : registers.bytes) byte = static_cast<unsigned char>(random());
    const std::string kernel = kernel_of(one, opcode_of(one));
    EXPECT_EQ(registers_of(apart(kernel), registers).bytes, registers_of(kernel, registers).bytes)
        << opcode_of(one);
  }
}

TEST(SimulatedMatrixProducts, SumsOfBlocks) {
  const Case& half = case_of("m16n8k8", "f32.f16.f16.f32");
  EXPECT_EQ(product_of(half, one, one, [](int, int) { return 0x1p24; })[3][3], 0x1p24 + 8);
  EXPECT_EQ(product_of(half, one, one, [](int, int) { return 0x1p26; })[3][3], 0x1p26);
  // The result in single precision is cut off, too.
  EXPECT_EQ(product_of(half, one, one, [](int, int) { return 0x1p25 - 2; })[3][3], 0x1p25 + 4);
  // Numbers of eight bits are added among themselves, and to c last.
  const Case& bytes = case_of("m16n8k16", "f32.e4m3.e4m3.f32");
  EXPECT_EQ(product_of(bytes, one, one, [](int, int) { return 0x1p26; })[3][3], 0x1p26 + 16);
  const auto term = [](int k) { return k < 4 ? 1 : k == 4 ? 0x1p12 : 0; };
  EXPECT_EQ(product_of(
                half, [&](int, int k) { return term(k); }, [&](int k, int) { return term(k); }, zero)[0][0],
            0x1p24 + 4);
  // Products are not rounded: (1 + 2^-10)^2 has more bits than a half.
  EXPECT_EQ(product_of(
                half, [](int, int k) { return k == 0 ? 1 + 0x1p-10 : 0; },
                [](int k, int) { return k == 0 ? 1 + 0x1p-10 : 0; }, zero)[9][2],
            1 + 0x1p-9 + 0x1p-20);
  // The result of halves is rounded once, in the end.
  const Case& short_sums = case_of("m16n8k8", "f16.f16.f16.f16");
  EXPECT_EQ(product_of(short_sums, one, one, [](int, int) { return 2048; })[15][7], 2056);
  EXPECT_EQ(product_of(
                short_sums, [](int, int) { return 200; }, [](int, int) { return 200; }, zero)[0][0],
            std::numeric_limits<double>::infinity());
}

TEST(SimulatedMatrixProducts, DoublePrecisionIsFused) {
  const double a = 1 + 0x1p-30;
  const Case& wide = case_of("m8n8k4", "f64.f64.f64.f64");
  const auto only_first = [&](int row, int column) { return row == 0 && column == 0 ? a : 0; };
  EXPECT_EQ(product_of(wide, only_first, only_first, [](int, int) { return -1; })[0][0], std::fma(a, a, -1));
}

TEST(SimulatedMatrixProducts, IntegersWrapOrSaturate) {
  const Case& bytes = case_of("m16n8k16", "s32.s8.s8.s32");
  const auto largest = [](int, int) { return 2147483640; };
  EXPECT_EQ(product_of(bytes, one, one, largest)[4][4], -2147483640);
  EXPECT_EQ(product_of(bytes, one, one, largest, "satfinite.")[4][4], 2147483647);
  EXPECT_EQ(
      product_of(
          bytes, one, [](int, int) { return -1; }, [](int, int) { return -2147483640; }, "satfinite.")[4][4],
      -2147483648.0);
}

TEST(SimulatedMatrixProducts, OneNaN) {
  const Case& half = case_of("m16n8k8", "f32.bf16.bf16.f32");
  Registers registers;
  registers.set(0, 1, 0, "f32", std::numeric_limits<double>::quiet_NaN());
  registers = registers_after(half, opcode_of(half), registers);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &registers.bytes[kMatrix[0]], 4);
  EXPECT_EQ(bits, 0x7fffffffu);
}

TEST(SimulatedMatrixProducts, WhatPtxDoesNotHaveIsNotSimulated) {
  const Case& half = case_of("m16n8k16", "f32.f16.f16.f32");
  for (const char* const opcode : {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
                                   "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
                                   "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
                                   "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                                   "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
                                   "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}) {
    FakeDevice device;
    const Outcome outcome =
        run(device, kernel_of(half, opcode), {}, {32}, Arguments(device.allocate(Registers().bytes)));
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::unsupported));
    EXPECT_EQ(outcome.message, opcode);
  }
}

TEST(SimulatedMatrixProducts, NeedAWholeWarp) {
  const Case& half = case_of("m16n8k16", "f32.f16.f16.f32");
  FakeDevice device;
  const Outcome outcome = run(device, kernel_of(half, opcode_of(half)), {}, {48},
                              Arguments(device.allocate(std::vector<unsigned char>(48 * kLane))));
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::trap));
  EXPECT_EQ(outcome.message, opcode_of(half) + " by 16 of the 32 threads of a warp");
}

}  // namespace mma_test
}  // namespace opgate::simulator::tests
