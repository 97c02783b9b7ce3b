// `printf` of kernels.
#include "both_ways.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace print_test {

// Bytes of a text, with its end.
std::string text(const std::string& name, const std::string& characters) {
  std::string list;
  for (const char c : characters) list += std::to_string(static_cast<int>(c)) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(characters.size() + 1) + "] = {" + list +
         "0};\n";
}

// What nvcc makes of printf(format, (int)-7, 5ll << 32, 1.5, "abc", 3, 2.0); threads store its result.
std::string kernel_with(const std::string& format) {
  return kernel_of(
      R"(.local .align 8 .b8 depot[56]; .reg .b64 %SP; .reg .b64 %SPL; mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
    mov.u32 %r2, -7; st.local.u32 [%SPL], %r2; mov.u64 %rd2, 21474836480; st.local.u64 [%SPL+8], %rd2;
    mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [%SPL+16], %fd1; mov.u64 %rd3, word; cvta.global.u64 %rd3, %rd3;
    st.local.u64 [%SPL+24], %rd3; mov.u32 %r2, 3; st.local.u32 [%SPL+32], %r2; mov.f64 %fd1, 0d4000000000000000;
    st.local.f64 [%SPL+40], %fd1; mov.u64 %rd4, format; cvta.global.u64 %rd4, %rd4;
    { .param .b64 param0; st.param.b64 [param0], %rd4; .param .b64 param1; st.param.b64 [param1], %SP; .param .b32 retval0;
      call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r3, [retval0]; }
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r3;)",
      ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);\n" +
          text("format", format) + text("word", "abc"));
}

std::string printed(const std::string& format) {
  ::testing::internal::CaptureStdout();
  run_with(settings_of(CompilationSettings::When::never), kernel_with(format),
           [](FakeDevice& device, std::vector<std::uint64_t>&) {
             return launch_of("k", {}, {1}, Arguments(device.allocate(std::vector<std::uint32_t>(1))));
           });
  std::fflush(stdout);
  return ::testing::internal::GetCapturedStdout();
}

TEST(SimulatedPrinting, Conversions) {
  EXPECT_EQ(printed("%d %lld %.2f %s %c|%g\n"), "-7 21474836480 1.50 abc \x03|2\n");
  EXPECT_EQ(printed("%5d|%-14ld|%8.3e|%5s|%02x|%%"), "   -7|21474836480   |1.500e+00|  abc|03|%");
  EXPECT_EQ(printed("%hhu %lld"), "249 21474836480");
  // The width is -7, the number lies in the gap after it, and the integer of 8 bytes is read as a double.
  EXPECT_EQ(printed("%*d|%f"), "-1     |0.000000");
  EXPECT_EQ(printed("nothing"), "nothing");
  EXPECT_EQ(printed("%d%"), "-7%");
}

TEST(SimulatedPrinting, GivesTheNumberOfCharactersInCompiledCodeToo) {
  ::testing::internal::CaptureStdout();
  const Ran ran =
      run_both_ways(kernel_with("%d\n"), [](FakeDevice& device, std::vector<std::uint64_t>& results) {
        results = {device.allocate(std::vector<std::uint32_t>(40))};
        return launch_of("k", {}, {40}, Arguments(results[0]));
      });
  std::fflush(stdout);
  std::string expected;
  for (int i = 0; i < 80; ++i) expected += "-7\n";
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), expected);
  std::uint32_t last = 0;
  std::memcpy(&last, ran.memory[0].data() + 39 * sizeof(last), sizeof(last));
  EXPECT_EQ(last, 3u);
}

TEST(SimulatedPrinting, LeavesNothingUnwritten) {
  ::testing::internal::CaptureStdout();
  Tools tools;
  tools.init = true;
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(64));
  const Launch launch = launch_of("k", {}, {64}, Arguments(memory));
  expect_nothing(findings_of_launch(device, kernel_with("%d\n"), launch, tools, /*seed=*/0));
  ::testing::internal::GetCapturedStdout();
}

}  // namespace print_test
}  // namespace opgate::simulator::tests
