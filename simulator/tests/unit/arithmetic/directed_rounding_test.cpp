// Results that are rounded down, up or towards zero: compiled code computes them from the nearest one and its
// error, and the interpreter changes the rounding of the host.
#include <random>

#include "both_ways.h"
#include "edges.h"

namespace opgate::simulator::tests {
namespace directed_rounding_test {

constexpr unsigned kNumbers = 64;

// Edges, numbers of any size, and numbers that lie close together, so that differences are exact.
template <class Bits>
std::vector<Bits> numbers_with(const std::vector<std::uint64_t>& edges, Bits one) {
  std::mt19937_64 random(5);
  std::vector<Bits> numbers(edges.begin(), edges.end());
  while (numbers.size() < kNumbers) {
    const auto any = static_cast<Bits>(random());
    const Bits near_one = one + any % 1024;
    numbers.push_back(numbers.size() % 3 == 0 ? any : numbers.size() % 3 == 1 ? near_one : ~near_one);
  }
  return numbers;
}

// Executes the instruction for all pairs of numbers, both ways, and returns what was left to the interpreter.
template <class Bits>
std::uint64_t left_of(const std::string& instruction, const std::vector<Bits>& numbers) {
  SCOPED_TRACE(instruction);
  constexpr bool kIsWide = sizeof(Bits) == 8;
  const std::string bytes = std::to_string(sizeof(Bits));
  const std::string type = kIsWide ? "f64" : "f32";
  const auto load = [&](const std::string& index, const std::string& to) {
    return "mul.wide.u32 %rd2, " + index + ", " + bytes + "; add.u64 %rd2, %rd2, %rd1; ld.global." + type +
           " " + to + ", [%rd2];\n";
  };
  const std::string f = kIsWide ? "%fd" : "%f";
  const std::string body = "mov.u32 %r2, %ctaid.x; add.u32 %r3, %r1, %r2; and.b32 %r3, %r3, 63;\n" +
                           load("%r1", f + "1") + load("%r2", f + "2") + load("%r3", f + "3") + instruction +
                           "\nmad.lo.u32 %r4, %r2, 64, %r1; add.u32 %r4, %r4, 64; mul.wide.u32 %rd2, %r4, " +
                           bytes + "; add.u64 %rd2, %rd2, %rd1; st.global." + type + " [%rd2], " + f + "0;";
  const Ran ran =
      run_both_ways(kernel_of(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
        std::vector<Bits> memory = numbers;
        memory.resize(std::size_t{kNumbers} * (kNumbers + 1));
        results.push_back(device.allocate(memory));
        return launch_of("k", {kNumbers}, {kNumbers}, Arguments(results.front()));
      });
  expect_no_fault(ran.outcome);
  return ran.left_to_interpreter;
}

TEST(DirectedRounding, SinglePrecisionIsTheSameInCompiledCode) {
  const auto numbers = numbers_with<std::uint32_t>(edges_of_float(), 0x3f800000);
  for (const std::string direction : {"rz", "rm", "rp"}) {
    for (const std::string words : {"", ".ftz"}) {
      const std::string type = "." + direction + words + ".f32 %f0, %f1";
      for (const char* const opcode : {"add", "sub", "mul", "div"})
        EXPECT_EQ(left_of(opcode + type + ", %f2;", numbers), 0u);
      EXPECT_EQ(left_of("fma" + type + ", %f2, %f3;", numbers), 0u);
      for (const char* const opcode : {"rcp", "sqrt"}) EXPECT_EQ(left_of(opcode + type + ";", numbers), 0u);
    }
    EXPECT_EQ(left_of("add." + direction + ".sat.f32 %f0, %f1, %f2;", numbers), 0u);
  }
}

TEST(DirectedRounding, DoublePrecisionIsTheSameInCompiledCode) {
  const auto numbers = numbers_with<std::uint64_t>(edges_of_double(), 0x3ff0000000000000);
  for (const std::string direction : {"rz", "rm", "rp"}) {
    const std::string type = "." + direction + ".f64 %fd0, %fd1";
    for (const char* const opcode : {"add", "sub", "mul", "div"})
      EXPECT_EQ(left_of(opcode + type + ", %fd2;", numbers), 0u);
    for (const char* const opcode : {"rcp", "sqrt"}) EXPECT_EQ(left_of(opcode + type + ";", numbers), 0u);
    left_of("fma" + type + ", %fd2, %fd3;", numbers);
  }
}

}  // namespace directed_rounding_test
}  // namespace opgate::simulator::tests
