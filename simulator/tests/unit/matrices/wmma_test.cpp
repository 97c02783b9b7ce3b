// wmma: what is loaded, multiplied and stored again is the product, however the elements lie in registers.
#include <random>

#include "both_ways.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace wmma_test {

struct Case {
  std::string shape;
  int m, n, k;
  std::string factor, sum, result;  ///< types of a and b, of c, and of d
  int a, b, c, d;                   ///< registers
};

// Registers as the table of matrix fragments for wmma says.
const std::vector<Case> kCases{
    {"m16n16k16", 16, 16, 16, "f16", "f32", "f32", 8, 8, 8, 8},
    {"m16n16k16", 16, 16, 16, "f16", "f16", "f16", 8, 8, 4, 4},
    {"m16n16k16", 16, 16, 16, "f16", "f16", "f32", 8, 8, 4, 8},
    {"m32n8k16", 32, 8, 16, "f16", "f32", "f16", 8, 8, 8, 4},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f32", 8, 8, 8, 8},
    {"m16n16k16", 16, 16, 16, "bf16", "f32", "f32", 4, 4, 8, 8},
    {"m32n8k16", 32, 8, 16, "bf16", "f32", "f32", 8, 2, 8, 8},
    {"m8n32k16", 8, 32, 16, "bf16", "f32", "f32", 2, 8, 8, 8},
    {"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4, 8, 8},
    {"m16n16k16", 16, 16, 16, "s8", "s32", "s32", 2, 2, 8, 8},
    {"m32n8k16", 32, 8, 16, "u8", "s32", "s32", 4, 1, 8, 8},
    {"m8n32k16", 8, 32, 16, "s8", "s32", "s32", 1, 4, 8, 8},
    {"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2},
};

std::size_t bytes_of(const std::string& type) {
  if (type == "f64") return 8;
  if (type == "s8" || type == "u8") return 1;
  return type == "f16" || type == "bf16" ? 2 : 4;
}

std::uint64_t encoded(const std::string& type, double value) {
  if (type == "f64") return std::bit_cast<std::uint64_t>(value);
  if (type == "f16") return half_format().bits(Quad(value));
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

double decoded(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f16") return static_cast<double>(half_format().number(static_cast<std::uint16_t>(bits)));
  return type == "f32" ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                       : static_cast<std::int32_t>(bits);
}

/// A matrix in the memory of the test, with a stride longer than its rows or columns.
struct Matrix {
  int rows, columns;
  std::string type;
  bool is_by_columns;
  int stride;
  std::size_t begin;

  std::size_t at(int row, int column) const {
    const int index = is_by_columns ? column * stride + row : row * stride + column;
    return begin + static_cast<std::size_t>(index) * bytes_of(type);
  }
  void set(std::vector<unsigned char>& memory, int row, int column, double value) const {
    const std::uint64_t bits = encoded(type, value);
    std::memcpy(&memory.at(at(row, column)), &bits, bytes_of(type));
  }
  double get(const std::vector<unsigned char>& memory, int row, int column) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &memory.at(at(row, column)), bytes_of(type));
    return decoded(type, bits);
  }
  std::string layout() const { return is_by_columns ? ".col" : ".row"; }
  std::string address() const { return "[%rd1+" + std::to_string(begin) + "]"; }
};

Matrix matrix_of(int rows, int columns, const std::string& type, bool is_by_columns, std::size_t begin) {
  return {rows, columns, type, is_by_columns, (is_by_columns ? rows : columns) + 16, begin};
}

std::string registers(char name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "{%" : ", %") + std::string(1, name) + std::to_string(i);
  return list + "}";
}

TEST(SimulatedWarpMatrices, ProductsOfEachShapeAndType) {
  std::mt19937 random(9);
  for (const Case& one : kCases) {
    for (int layouts = 0; layouts < 4; ++layouts) {
      const Matrix a = matrix_of(one.m, one.k, one.factor, (layouts & 1) != 0, 0);
      const Matrix b = matrix_of(one.k, one.n, one.factor, (layouts & 2) != 0, 4096);
      const Matrix c = matrix_of(one.m, one.n, one.sum, (layouts & 1) != 0, 8192);
      const Matrix d = matrix_of(one.m, one.n, one.result, (layouts & 2) != 0, 12288);
      std::vector<unsigned char> before(20000);
      const auto fill = [&](const Matrix& matrix, int least, int most) {
        std::vector<int> values;
        for (int row = 0; row < matrix.rows; ++row) {
          for (int column = 0; column < matrix.columns; ++column) {
            values.push_back(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
            matrix.set(before, row, column, values.back());
          }
        }
        return values;
      };
      const int most = one.factor == "u8" ? 255 : 4;
      const std::vector<int> of_a = fill(a, one.factor == "u8" ? 0 : -4, most);
      const std::vector<int> of_b = fill(b, one.factor == "u8" ? 0 : -4, most);
      const std::vector<int> of_c = fill(c, -100, 100);
      const bool names_two = one.factor == "f16";
      const std::string types = names_two ? one.result + "." + one.sum
                                          : one.result + "." + one.factor + "." + one.factor + "." + one.sum;
      const std::string word = one.factor == "f64" ? ".b64" : ".b32";
      const auto move = [&](const std::string& what, const Matrix& matrix, const std::string& operands) {
        return "wmma." + what + ".sync.aligned" + matrix.layout() + "." + one.shape + ".global." +
               matrix.type + " " + operands + ", " + std::to_string(matrix.stride) + ";\n";
      };
      const std::string ptx = kernel_of(
          ".reg " + word + " %a<9>, %b<9>, %c<9>, %d<9>;\n" +
          move("load.a", a, registers('a', one.a) + ", " + a.address()) +
          move("load.b", b, registers('b', one.b) + ", " + b.address()) +
          move("load.c", c, registers('c', one.c) + ", " + c.address()) + "wmma.mma.sync.aligned" +
          a.layout() + b.layout() + "." + one.shape + "." + types + " " + registers('d', one.d) + ", " +
          registers('a', one.a) + ", " + registers('b', one.b) + ", " + registers('c', one.c) + ";\n" +
          move("store.d", d, d.address() + ", " + registers('d', one.d)));
      const Prepare prepare = [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
        results.push_back(device.allocate(before));
        return launch_of("k", {}, {32}, Arguments(results.front()));
      };
      // Layouts make no difference to compiled code.
      const Ran ran = layouts == 1 ? run_both_ways(ptx, prepare)
                                   : run_with(settings_of(CompilationSettings::When::never), ptx, prepare);
      expect_no_fault(ran.outcome);
      for (int i = 0; i < one.m; ++i) {
        for (int j = 0; j < one.n; ++j) {
          int sum = of_c[static_cast<std::size_t>(i * one.n + j)];
          for (int k = 0; k < one.k; ++k)
            sum +=
                of_a[static_cast<std::size_t>(i * one.k + k)] * of_b[static_cast<std::size_t>(k * one.n + j)];
          EXPECT_EQ(d.get(ran.memory.front(), i, j), sum) << one.shape << types << " " << i << " " << j;
        }
      }
    }
  }
}

Outcome outcome_of(const std::string& body, std::vector<std::uint32_t>* memory = nullptr) {
  const Ran ran = run_both_ways(kernel_of(body), [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    std::vector<std::uint32_t> values(256);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    results.push_back(device.allocate(values));
    return launch_of("k", {}, {32}, Arguments(results.front()));
  });
  if (memory != nullptr) {
    memory->resize(256);
    std::memcpy(memory->data(), ran.memory.front().data(), 1024);
  }
  return ran.outcome;
}

const std::string kRegisters = registers('r', 8);

// Through shared memory by both kinds of addresses, and without a stride: rows follow each other.
TEST(SimulatedWarpMatrices, InSharedMemory) {
  std::vector<std::uint32_t> after;
  expect_no_fault(outcome_of(
      ".shared .align 32 .b8 s[1024]; mov.u32 %r9, s; cvt.u64.u32 %rd2, %r9; cvta.shared.u64 %rd2, %rd2;\n"
      "wmma.load.c.sync.aligned.row.m16n16k16.global.s32 " +
          kRegisters +
          ", [%rd1];\n"
          "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%r9], " +
          kRegisters +
          ";\n"
          "wmma.load.c.sync.aligned.col.m16n16k16.s32 " +
          kRegisters +
          ", [%rd2], 16;\n"
          "wmma.store.d.sync.aligned.row.m16n16k16.s32 [%rd1], " +
          kRegisters + ";",
      &after));
  for (std::uint32_t i = 0; i < 256; ++i) EXPECT_EQ(after[i], i % 16 * 16 + i / 16);
}

TEST(SimulatedWarpMatrices, SaturatedIntegers) {
  const std::string body =
      "mov.u32 %r1, 0x7f7f7f7f; mov.u32 %r2, 0x7fffffff;\n"
      "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32SATURATED "
      "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, "
      "{%r1,%r1}, {%r1,%r1}, {%r2,%r2,%r2,%r2,%r2,%r2,%r2,%r2}; st.global.u32 [%rd1], %r17;";
  std::string saturated = body;
  saturated.replace(body.find("SATURATED"), 9, ".satfinite");
  std::string wrapped = body;
  wrapped.replace(body.find("SATURATED"), 9, "");
  std::vector<std::uint32_t> after;
  expect_no_fault(outcome_of(saturated, &after));
  EXPECT_EQ(after[0], 0x7fffffffu);
  expect_no_fault(outcome_of(wrapped, &after));
  EXPECT_EQ(after[0], 0x7fffffffu + 16 * 127 * 127);
}

TEST(SimulatedWarpMatrices, Mistakes) {
  const auto expect_fault = [](const std::string& body, Fault fault, const std::string& words) {
    const Outcome outcome = outcome_of(body);
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
    EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
  };
  expect_fault("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + kRegisters + ", [%rd1], 20;",
               Fault::illegal_address, "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 of 4 bytes at");
  expect_fault("wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1+32], " + kRegisters + ", 16;",
               Fault::illegal_address, "past the end of 1024 bytes");
  expect_fault("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + kRegisters + ", [%rd1+16], 16;",
               Fault::misaligned_address, "of 32 bytes at 0x7f0000000010, which is not a multiple of 32");
  expect_fault("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + kRegisters + ", [%rd1], 18;",
               Fault::misaligned_address,
               "with a stride of 18 elements, which is not a multiple of 16 bytes");
  expect_fault("setp.lt.u32 %p1, %r1, 16; @%p1 wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " +
                   registers('f', 8) + ", [%rd1], 16;",
               Fault::trap, "by 16 of the 32 threads of a warp");
  for (const char* const opcode : {"wmma.load.c.sync.aligned.row.m16n16k16.global.s8",
                                   "wmma.load.c.sync.aligned.row.m8n8k32.global.s32"})
    expect_fault(std::string(opcode) + " " + kRegisters + ", [%rd1], 16;", Fault::unsupported, opcode);
}

}  // namespace wmma_test
}  // namespace opgate::simulator::tests
