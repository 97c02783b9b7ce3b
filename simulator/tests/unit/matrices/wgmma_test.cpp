// wgmma: each type, order and swizzling, with matrices laid out by the canonical layouts of the manual, and
// when its sums come.
#include <array>
#include <cmath>

#include "both_ways.h"
#include "wgmma_kernel.h"

namespace opgate::simulator::tests {
namespace wgmma_test {

// Small numbers, of which all products and sums are exact in each type.
int a_at(int row, int k) { return (row * 5 + k * 3) % 7 - 3; }
int b_at(int k, int column) { return (k * 2 + column * 3) % 5 - 2; }

std::uint32_t encoded(const std::string& type, int value) {
  const auto magnitude = static_cast<std::size_t>(std::abs(value));
  const std::uint32_t sign = value < 0 ? 1 : 0;
  if (type == "f16")
    return sign << 15 | std::array<std::uint32_t, 4>{0, 0x3c00, 0x4000, 0x4200}.at(magnitude);
  if (type == "e4m3") return sign << 7 | std::array<std::uint32_t, 4>{0, 0x38, 0x40, 0x44}.at(magnitude);
  if (type == "e5m2") return sign << 7 | std::array<std::uint32_t, 4>{0, 0x3c, 0x40, 0x42}.at(magnitude);
  if (type == "s8") return static_cast<std::uint8_t>(value);
  if (type == "u8") return static_cast<std::uint32_t>(magnitude);
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return type == "bf16" ? single >> 16 : single;
}

double decoded(const std::string& type, std::uint32_t bits) {
  if (type == "s32") return static_cast<std::int32_t>(bits);
  if (type == "f32") return std::bit_cast<float>(bits);
  const double magnitude = std::ldexp(1024 + (bits & 0x3ff), static_cast<int>(bits >> 10 & 31) - 25);
  return (bits >> 15 != 0 ? -1 : 1) * ((bits & 0x7fff) == 0 ? 0 : magnitude);
}

struct Form {
  std::string d, a, b;
  int n;
  int k;
  unsigned row_bytes = 128;  ///< of the swizzling; 16: none
  bool a_by_columns = false;
  bool b_by_rows = false;
  bool a_in_registers = false;
  std::string signs = "1, 1";
};

int bytes_of(const std::string& type) { return type == "tf32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1; }

// The canonical layouts: T elements are 16 bytes, and a row of a pattern has W of them.
struct Placed {
  unsigned row_bytes;
  bool along_k;
  int bytes;  ///< of an element
  unsigned begin;
  unsigned leading;
  unsigned stride;

  unsigned address(int side, int k) const {
    const int t = 16 / bytes;
    const int w = static_cast<int>(row_bytes) / 16;
    const int inner = along_k ? k : side;
    const int outer = along_k ? side : k;
    unsigned at = begin + static_cast<unsigned>(inner % t * bytes + outer % 8 * w * 16 + inner / t % w * 16);
    const auto step = static_cast<unsigned>(inner / (t * w));
    const auto eighth = static_cast<unsigned>(outer / 8);
    if (along_k || w > 1) {
      at += step * leading + eighth * stride;
    } else {
      at += step * stride + eighth * leading;
    }
    const unsigned bits = w == 8 ? 7 : w == 4 ? 3 : w == 2 ? 1 : 0;
    return at ^ ((at >> 7 & bits) << 4);
  }

  std::uint64_t descriptor() const {
    const std::uint64_t mode = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : row_bytes == 32 ? 3 : 0;
    return begin >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 | mode << 62;
  }
};

constexpr unsigned kSharedOfB = 16384;

Placed place_of_a(const Form& form) {
  return {form.row_bytes, !form.a_by_columns, bytes_of(form.a), 0, 4096, 8 * form.row_bytes};
}

Placed place_of_b(const Form& form) {
  return {form.row_bytes,
          !form.b_by_rows,
          bytes_of(form.b),
          kSharedOfB,
          form.b_by_rows && form.row_bytes > 16 ? 16 * form.row_bytes : 8192,
          8 * form.row_bytes};
}

std::vector<unsigned char> memory_of(const Form& form) {
  std::vector<unsigned char> memory(kSharedBytes + 128 * 16);
  const auto put = [&](unsigned at, const std::string& type, int value) {
    const std::uint32_t bits = encoded(type, value);
    std::memcpy(&memory[at], &bits, static_cast<std::size_t>(bytes_of(type)));
  };
  const Placed a = place_of_a(form);
  const Placed b = place_of_b(form);
  for (int k = 0; k < form.k; ++k) {
    for (int row = 0; row < 64; ++row) {
      if (!form.a_in_registers) put(a.address(row, k), form.a, a_at(row, k));
    }
    for (int column = 0; column < form.n; ++column) put(b.address(column, k), form.b, b_at(k, column));
  }
  // "Register fragments for wgmma": as those of mma.m16n8k16, for each warp.
  const int width = 4 / bytes_of(form.a);
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 4 * width; ++i) {
      const int reg = i / width;
      const int row = thread / 32 * 16 + thread % 32 / 4 + reg % 2 * 8;
      const int k = (reg / 2 * 4 + thread % 4) * width + i % width;
      put(kSharedBytes + static_cast<unsigned>(thread * 16 + i * bytes_of(form.a)), form.a, a_at(row, k));
    }
  }
  return memory;
}

std::string instruction_of(const Form& form) {
  const std::string shape = "m64n" + std::to_string(form.n) + "k" + std::to_string(form.k);
  const bool is_wide = bytes_of(form.a) == 2;
  std::string text = "wgmma.mma_async.sync.aligned." + shape + "." + form.d + "." + form.a + "." + form.b +
                     " {" + registers("%d", registers_of_sums(form.d, form.n)) + "}, ";
  text += form.a_in_registers ? "{%a0, %a1, %a2, %a3}" : std::to_string(place_of_a(form).descriptor());
  text += ", " + std::to_string(place_of_b(form).descriptor()) + ", %p1";
  if (form.d != "s32") text += ", " + form.signs;
  if (is_wide && !form.a_in_registers) text += form.a_by_columns ? ", 1" : ", 0";
  if (is_wide) text += form.b_by_rows ? ", 1" : ", 0";
  return text + ";";
}

// A register of sums that are 2.
std::uint32_t begin_of(const std::string& type) {
  return type == "s32" ? 2 : type == "f16" ? 0x40004000 : encoded(type, 2);
}

// The registers of all threads after so many products.
std::vector<std::uint32_t> sums_of(const Form& form, const std::vector<unsigned char>& memory,
                                   std::uint32_t begin, int times = 1) {
  std::string body;
  for (int i = 0; i < times; ++i) body += instruction_of(form) + "\n";
  const std::string ptx =
      wgmma_kernel(registers_of_sums(form.d, form.n), begin,
                   "wgmma.fence.sync.aligned;\n" + body +
                       "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
  const Ran ran = run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(memory);
    results = {device.allocate(std::vector<std::uint32_t>(128 * kMostSums))};
    return launch_of("k", {}, {128}, Arguments(in, results[0]));
  });
  expect_no_fault(ran.outcome);
  std::vector<std::uint32_t> sums(128 * kMostSums);
  std::memcpy(sums.data(), ran.memory[0].data(), ran.memory[0].size());
  return sums;
}

void expect_products(const Form& form, int times = 1) {
  const std::vector<std::uint32_t> sums = sums_of(form, memory_of(form), begin_of(form.d), times);
  const int sign = form.signs == "1, 1" || form.signs == "-1, -1" ? 1 : -1;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < form.n / 2; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      const int per_register = form.d == "f16" ? 2 : 1;
      const std::uint32_t bits = sums[static_cast<std::size_t>(thread * kMostSums + i / per_register)];
      const double got = decoded(form.d, per_register == 2 ? bits >> i % 2 * 16 & 0xffff : bits);
      double want = 2;
      for (int k = 0; k < form.k; ++k) {
        const int a = form.a == "u8" ? std::abs(a_at(row, k)) : a_at(row, k);
        const int b = form.b == "u8" ? std::abs(b_at(k, column)) : b_at(k, column);
        want += times * sign * a * b;
      }
      ASSERT_EQ(got, want) << instruction_of(form) << " at " << row << ", " << column;
    }
  }
}

TEST(SimulatedWarpgroupProducts, OfEachType) {
  const std::vector<Form> forms{
      {"f32", "f16", "f16", 64, 16},  {"f16", "f16", "f16", 32, 16},   {"f32", "bf16", "bf16", 24, 16},
      {"f32", "tf32", "tf32", 40, 8}, {"f32", "e4m3", "e4m3", 16, 32}, {"f16", "e5m2", "e4m3", 16, 32},
      {"s32", "s8", "s8", 64, 32},    {"s32", "u8", "s8", 24, 32},     {"f32", "f16", "f16", 256, 16, 32},
      {"f32", "f16", "f16", 8, 16},
  };
  for (Form form : forms) {
    expect_products(form);
    form.a_in_registers = true;
    expect_products(form);
  }
}

TEST(SimulatedWarpgroupProducts, InEachLayout) {
  for (const unsigned row_bytes : {16u, 32u, 64u, 128u}) {
    for (const bool a_by_columns : {false, true}) {
      for (const bool b_by_rows : {false, true}) {
        Form form{"f32", "f16", "f16", 64, 16, row_bytes};
        form.a_by_columns = a_by_columns;
        form.b_by_rows = b_by_rows;
        expect_products(form);
      }
    }
    expect_products({"s32", "s8", "s8", 32, 32, row_bytes});
  }
}

TEST(SimulatedWarpgroupProducts, WithSigns) {
  for (const char* const signs : {"-1, 1", "1, -1", "-1, -1"}) {
    Form form{"f32", "f16", "f16", 16, 16};
    form.signs = signs;
    expect_products(form);
  }
}

TEST(SimulatedWarpgroupProducts, OneAfterTheOther) { expect_products({"f32", "f16", "f16", 16, 16}, 3); }

unsigned char byte_at(const std::string& text, int index) {
  return static_cast<unsigned char>(
      std::stoul(text.substr(2 * static_cast<std::size_t>(index), 2), nullptr, 16));
}

// The first sum, where the bytes of the first row of `a` and of the first column of `b` are these.
std::uint32_t sum_of_bytes(const Form& form, const std::string& a, const std::string& b,
                           std::uint32_t begin) {
  std::vector<unsigned char> memory(kSharedBytes + 128 * 16);
  for (int k = 0; k < form.k; ++k) {
    memory[place_of_a(form).address(0, k)] = byte_at(a, k);
    memory[place_of_b(form).address(0, k)] = byte_at(b, k);
  }
  const std::uint32_t sums = sums_of(form, memory, begin)[0];
  return form.d == "f16" ? sums & 0xffff : sums;
}

// What an H200 gave.
TEST(SimulatedWarpgroupProducts, OfEightBitsKeepFewBits) {
  EXPECT_EQ(sum_of_bytes({"f32", "e4m3", "e4m3", 8, 32},
                         "c7363f40c7342317c4c5b1b932c547c2c0bdc18398c7323880c6ac4455a8461f",
                         "b34441c245bb47c4bc30fd34baafc0bbc4ba32c5ac472bc642383ab92db7a4b1", 0x7f7fffff),
            0x7f7ffc00u);
  // Subnormal numbers are as large as the least normal one when the products are cut off.
  EXPECT_EQ(sum_of_bytes({"f32", "e4m3", "e5m2", 8, 32},
                         "bb443944c83e402e452347c23438c3c246ac41b78332b0424042c445bce1b9b3",
                         "bfb24b40c342bc3cc33cbec0413fc2c23443433ff8c13a421340c1c1bd41c240", 0x4136fff5),
            0x4335c000u);
  EXPECT_EQ(sum_of_bytes({"f32", "e5m2", "e4m3", 8, 32},
                         "36b140c3c243bc43be2c40c083b3c043babd7bb8bcc2433dbd3d41bc1f40be3a",
                         "422c47b6bac73b43c0ea47c213c7c5b5baa10140c32138b2c7b946c1b0c234bd", 0x415b84c8),
            0x43234000u);
  // Halves are rounded once, from all bits of the sum.
  EXPECT_EQ(sum_of_bytes({"f16", "e4m3", "e4m3", 8, 32},
                         "9942bd3f4641471b4088412247c74742401d2cc3c6c7bc3cc599313dc747b133",
                         "bbc7bfb4c44747c0c346b34029c13742c5c03945403ebd2c91c5c0b842404042", 0x3efa),
            0xc988u);
  EXPECT_EQ(sum_of_bytes({"f16", "e4m3", "e5m2", 8, 32},
                         "393f83b83ea3bbadc445c241b84740c2bcc24341c645c2bfb0be3cc742c547c2",
                         "b9bafa4238bbbbbc403c43c1ab43c142c1433ab4c03d433eb836bdc0b6c2403f", 0xca2e),
            0x5c38u);
  EXPECT_EQ(sum_of_bytes({"f16", "e4m3", "e4m3", 8, 32},
                         "7041c13e384443c439b8b4bd1a444536bc884242bfc53a4646ada0283544403d",
                         "46c7bdc6c641489e33a5a647ab2938c5c7b8c038b5b804c14d3b1144c6c7c341", 0x7bff),
            0x7c00u);
}

const Form kPlain{"f32", "f16", "f16", 8, 16};

// The first sum of the first thread.
float first_sum(const std::string& behind, unsigned threads = 128, Outcome* outcome = nullptr) {
  FakeDevice device;
  const std::string ptx = wgmma_kernel(4, encoded("f32", 2), "wgmma.fence.sync.aligned;\n" + behind);
  const std::uint64_t in = device.allocate(memory_of(kPlain));
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128 * kMostSums));
  const Outcome ran = run(device, ptx, {}, {threads}, Arguments(in, out));
  if (outcome != nullptr) {
    *outcome = ran;
  } else {
    expect_no_fault(ran);
  }
  return std::bit_cast<float>(device.read<std::uint32_t>(out)[0]);
}

float product_of_first() {
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += static_cast<float>(a_at(0, k) * b_at(k, 0));
  return sum;
}

TEST(SimulatedWarpgroupProducts, SumsComeWithTheWaitForTheirGroup) {
  const std::string multiply = instruction_of(kPlain) + "\n";
  const std::string commit = "wgmma.commit_group.sync.aligned;\n";
  const auto wait = [](const char* kept) {
    return std::string("wgmma.wait_group.sync.aligned ") + kept + ";\n";
  };
  const float product = product_of_first();
  ASSERT_NE(product, 0);
  EXPECT_EQ(first_sum(multiply + commit), 2);
  EXPECT_EQ(first_sum(multiply + wait("0")), 2);
  EXPECT_EQ(first_sum(multiply + commit + wait("1")), 2);
  EXPECT_EQ(first_sum(multiply + commit + wait("0")), 2 + product);
  EXPECT_EQ(first_sum(multiply + commit + multiply + commit + wait("1")), 2 + product);
  EXPECT_EQ(first_sum("setp.ne.u32 %p1, 0, 0;\n" + multiply + commit + wait("0")), product);
}

// %d0 of each thread in the end. It must be the same in compiled code.
std::vector<float> first_sums(const std::string& behind) {
  const std::string ptx = wgmma_kernel(4, encoded("f32", 2), "wgmma.fence.sync.aligned;\n" + behind);
  const Ran ran = run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(memory_of(kPlain));
    results = {device.allocate(std::vector<std::uint32_t>(128 * kMostSums))};
    return launch_of("k", {}, {128}, Arguments(in, results[0]));
  });
  expect_no_fault(ran.outcome);
  std::vector<float> sums(128);
  for (std::size_t thread = 0; thread < 128; ++thread)
    std::memcpy(&sums[thread], &ran.memory[0][thread * kMostSums * 4], sizeof(float));
  return sums;
}

const std::string kBegin = instruction_of(kPlain) + "\nwgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kWaitForAllButOne = "wgmma.wait_group.sync.aligned 1;\n";

// ptxas takes a move of a sum before the wait for what it is, and Triton relies on it.
TEST(SimulatedWarpgroupProducts, MovesBeforeTheWaitGiveTheSums) {
  const std::vector<float> sums = first_sums(kBegin + kWait);
  EXPECT_EQ(sums[0], 2 + product_of_first());
  const auto expect_sums = [&](const std::string& before, const std::string& behind) {
    EXPECT_EQ(first_sums(kBegin + before + kWait + "mov.b32 %d0, 0;\n" + behind), sums) << before;
  };
  expect_sums("mov.b32 %r9, %d0;\n", "mov.b32 %d0, %r9;\n");
  expect_sums(".reg .f32 %f; mov.f32 %f, %d0;\n", "mov.f32 %d0, %f;\n");
  expect_sums("mov.b32 %r9, %d0; mov.b32 %r10, %r9;\n", "mov.b32 %d0, %r10;\n");
  expect_sums("mov.b64 %rd9, {%d1, %d0};\n", "mov.b64 {%r9, %d0}, %rd9;\n");
  expect_sums(".reg .b16 %h<2>; mov.b32 {%h0, %h1}, %d0;\n", "mov.b32 %d0, {%h0, %h1};\n");
  expect_sums(".reg .b16 %h<2>; mov.b32 {_, %h1}, %d0; mov.b32 {%h0, _}, %d0;\n",
              "mov.b32 %d0, {%h0, %h1};\n");
  expect_sums("mov.b32 %r9, %d0; mov.b32 %r9, %d1; mov.b32 %r9, %d0;\n", "mov.b32 %d0, %r9;\n");
  // What does not belong to the product is taken when the move is executed.
  expect_sums("mov.b64 %rd9, {%d0, %r3}; mov.u32 %r10, %r3; add.u32 %r3, %r3, 1;\n",
              "mov.b64 {%d0, %r9}, %rd9; setp.eq.u32 %p2, %r9, %r10; @!%p2 mov.b32 %d0, 0;\n"
              "add.u32 %r10, %r10, 1; setp.eq.u32 %p2, %r3, %r10; @!%p2 mov.b32 %d0, 0;\n");
}

TEST(SimulatedWarpgroupProducts, MovesOfSomeLanesBeforeTheWait) {
  std::vector<float> sums = first_sums(kBegin + kWait);
  for (std::size_t thread = 0; thread < sums.size(); ++thread) {
    if (thread % 2 != 0) sums[thread] = 0;
  }
  const std::string odd = "and.b32 %r8, %r1, 1; setp.ne.u32 %p2, %r8, 0; mov.b32 %r9, 0;\n";
  const std::string use = kWait + "mov.b32 %d0, %r9;\n";
  EXPECT_EQ(first_sums(odd + kBegin + "@!%p2 mov.b32 %r9, %d0;\n" + use), sums);
  EXPECT_EQ(first_sums(odd + kBegin + "@%p2 bra over; mov.b32 %r9, %d0; over:\n" + use), sums);
}

TEST(SimulatedWarpgroupProducts, MovesBeforeTheWaitForTheirGroup) {
  const float product = product_of_first();
  const std::string first = kBegin + "mov.b32 %r9, %d0;\n";
  const std::string both = first + kBegin + "mov.b32 %r10, %d0;\n";
  const auto sum_of = [](const std::string& body) { return first_sums(body)[0]; };
  EXPECT_EQ(sum_of(both + kWaitForAllButOne + "mov.b32 %d0, %r9;\n"), 2 + product);
  EXPECT_EQ(sum_of(both + kWait + "mov.b32 %d0, %r9;\n"), 2 + product);
  EXPECT_EQ(sum_of(both + kWaitForAllButOne + kWait + "mov.b32 %d0, %r10;\n"), 2 + 2 * product);
  // Before it, they find what was there before.
  EXPECT_EQ(sum_of(first + "mov.b32 %d0, %r9;\n"), 2);
  EXPECT_EQ(sum_of(first + kWaitForAllButOne + "mov.b32 %d0, %r9;\n"), 2);
  // A loop that leaves one product pending, and moves what the one before has computed.
  EXPECT_EQ(
      sum_of("mov.b32 %r7, 0; mov.b32 %r11, 0;\nagain: mov.b32 %r10, %r9;\n" + first + kWaitForAllButOne +
             "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 3; @%p2 bra again;\nmov.b32 %d0, %r10;\n"),
      2 + 2 * product);
}

TEST(SimulatedWarpgroupProducts, ReadSharedMemoryWhenTheyAreWaitedFor) {
  const std::string multiply = instruction_of(kPlain) + "\nwgmma.commit_group.sync.aligned;\n";
  const std::string overwrite =
      "mov.u32 %r9, 16384; add.u32 %r9, %r9, %r3; st.shared.u32 [%r9], 0; bar.sync 0;\n";
  EXPECT_EQ(first_sum(multiply + overwrite + "wgmma.wait_group.sync.aligned 0;\n"), 2);
}

TEST(SimulatedWarpgroupProducts, NeedFourWarps) {
  Outcome outcome;
  first_sum(instruction_of(kPlain), 96, &outcome);
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::trap));
  EXPECT_NE(outcome.message.find("by less than the 128 threads of four warps"), std::string::npos)
      << outcome.message;
}

TEST(SimulatedWarpgroupProducts, OutsideOfSharedMemory) {
  Outcome outcome;
  std::string text = instruction_of(kPlain);
  const std::string descriptor = std::to_string(place_of_b(kPlain).descriptor());
  text.replace(text.find(descriptor), descriptor.size(),
               std::to_string(place_of_b(kPlain).descriptor() | 0x3fff));
  first_sum(text, 128, &outcome);
  EXPECT_NE(outcome.message.find("of the shared memory, of which there are 32768 bytes"), std::string::npos)
      << outcome.message;
}

TEST(SimulatedWarpgroupProducts, WhatPtxDoesNotHaveIsNotSimulated) {
  for (const char* const words : {"m64n8k8.f32.f16.f16", "m64n12k16.f32.f16.f16", "m64n8k16.f32.f16.bf16",
                                  "m64n8k16.f16.bf16.bf16", "m64n8k16.satfinite.f32.f16.f16"}) {
    Outcome outcome;
    std::string text = instruction_of(kPlain);
    text.replace(text.find("m64"), std::string("m64n8k16.f32.f16.f16").size(), words);
    first_sum(text, 128, &outcome);
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::unsupported)) << words;
  }
}

}  // namespace wgmma_test
}  // namespace opgate::simulator::tests
