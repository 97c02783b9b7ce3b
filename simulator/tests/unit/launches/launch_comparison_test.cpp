// Launches that are executed twice, interpreted and compiled.
#include <fstream>
#include <iterator>

#include "both_ways.h"
#include "kernels/compared_memory.h"
#include "kernels/launch_comparison.h"

namespace opgate::simulator::tests {
namespace launch_comparison_test {

namespace fs = std::filesystem;

constexpr const char* kVariable = "OPGATE_SIM_COMPARE";

/// Sets the variable until its end, and knows the file.
class Comparing {
 public:
  Comparing() : before_(std::getenv(kVariable) == nullptr ? "" : std::getenv(kVariable)) {
    setenv(kVariable, file().c_str(), 1);
  }
  ~Comparing() { setenv(kVariable, before_.c_str(), 1); }
  Comparing(const Comparing&) = delete;
  Comparing& operator=(const Comparing&) = delete;

  fs::path file() const { return folder_.path() / "launches"; }
  std::string lines() const {
    std::ifstream stream(file());
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const fs::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

/// Each thread stores 4711.
const std::string& storing() {
  static const std::string ptx = kernel_of(
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mov.u32 %r2, 4711; st.global.u32 [%rd2], %r2;");
  return ptx;
}

Launch of_four_threads(FakeDevice& device, std::vector<std::uint64_t>& results) {
  results = {device.allocate(std::vector<std::uint32_t>(4))};
  return launch_of("k", {}, {4}, Arguments(results[0]));
}

/// Compilation by a compiler that changes the code before it is compiled.
CompilationSettings with_changed_code(const fs::path& folder, const std::string& change) {
  const fs::path compiler = folder / "compiler";
  std::ofstream(compiler) << "#!/bin/sh\nfor a; do last=$a; done\n[ \"$last\" = --version ] || sed -i '"
                          << change << "' \"$last\"\nexec cc \"$@\"\n";
  fs::permissions(compiler, fs::perms::owner_all);
  CompilationSettings settings = settings_of(CompilationSettings::When::always);
  settings.folder = folder.string();
  settings.compiler = compiler.string();
  return settings;
}

TEST(LaunchComparison, FindsNothingWhereBothAreRight) {
  const Comparing comparing;
  for (const auto when : {CompilationSettings::When::never, CompilationSettings::When::automatic}) {
    const Ran ran = run_with(settings_of(when), storing(), of_four_threads);
    EXPECT_EQ(ran.memory[0], run_with(settings_of(when), storing(), of_four_threads).memory[0]);
    EXPECT_EQ(ran.memory[0][0], 4711 & 255);
    EXPECT_EQ(ran.outcome.compiled, when != CompilationSettings::When::never);
  }
  EXPECT_EQ(comparing.lines(), "compared\tk\ncompared\tk\ncompared\tk\ncompared\tk\n");
}

TEST(LaunchComparisonDeathTest, FindsAWrongTranslation) {
  const Comparing comparing;
  const CompilationSettings wrong = with_changed_code(comparing.folder(), "s/0x1267ull/0x1268ull/");
  EXPECT_EXIT(
      run_with(wrong, storing(), of_four_threads), ::testing::ExitedWithCode(kExecutionsDiffer),
      "launch 0 of k differs, interpreted first and compiled then: byte 0 of an allocation of 16 bytes at "
      "0x.*: the word at 0 is 0x1267 first and 0x1268 then; 4 bytes differ");
  EXPECT_EQ(comparing.lines().substr(0, 17), "differs\tk\tbyte 0 ");
}

TEST(LaunchComparisonDeathTest, FindsAStoreOfOneExecutionAlone) {
  const Comparing comparing;
  const std::string ptx =
      kernel_of("add.u32 %r2, %r1, 4711; setp.eq.u32 %p1, %r2, 4713; @%p1 st.global.u32 [%rd1], %r2;");
  // No thread is the one that stores any more.
  const CompilationSettings wrong = with_changed_code(comparing.folder(), "s/0x1269ull/0x2000ull/g");
  EXPECT_EXIT(run_with(wrong, ptx, of_four_threads), ::testing::ExitedWithCode(kExecutionsDiffer),
              "the word at 0 is 0x1269 first and 0x0 then");
}

TEST(LaunchComparison, CopiesWhatOnlyTheSecondExecutionAccesses) {
  FakeDevice device;
  const std::uint64_t address = device.allocate(std::vector<std::uint32_t>{1, 2, 3});
  ComparedMemory memory(device, false);
  memory.begin_second();
  std::size_t until = 0;
  std::string why;
  const std::uint32_t value = 9;
  std::memcpy(memory.translate(address + 4, 4, Access::store, until, why), &value, sizeof(value));
  EXPECT_EQ(until, 8u);
  EXPECT_NE(memory.difference().find("byte 4 of an allocation of 12 bytes"), std::string::npos);
  EXPECT_NE(memory.difference().find("the word at 4 is 0x2 first and 0x9 then; 1 bytes differ"),
            std::string::npos)
      << memory.difference();
}

TEST(LaunchComparison, TheFirstExecutionLeavesTheMemoryAlone) {
  FakeDevice device;
  const std::uint64_t address = device.allocate(std::vector<std::uint32_t>{1, 2, 3});
  const std::size_t left = device.left_of_heap;
  ComparedMemory memory(device, false);
  std::size_t until = 0;
  std::string why;
  const auto store = [&](std::uint32_t value) {
    std::memcpy(memory.translate(address + 4, 4, Access::store, until, why), &value, sizeof(value));
  };
  store(9);
  const std::uint64_t given = memory.allocate_in_kernel(8);
  memory.translate(given, 8, Access::store, until, why);
  EXPECT_TRUE(memory.free_in_kernel(address, why));
  memory.begin_second();
  EXPECT_EQ(device.left_of_heap, left);
  EXPECT_EQ(device.read<std::uint32_t>(address), (std::vector<std::uint32_t>{1, 2, 3}));
  store(9);
  EXPECT_EQ(memory.allocate_in_kernel(8), given);
  memory.translate(given, 8, Access::store, until, why);
  EXPECT_EQ(memory.difference(), "the calls of malloc and free differ");
  EXPECT_TRUE(memory.free_in_kernel(address, why));
  EXPECT_EQ(memory.difference(), "");
}

TEST(LaunchComparison, LeavesOutWhatItCannotCompareAndSaysWhy) {
  const Comparing comparing;
  const auto of_host = [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    Launch launch = of_four_threads(device, results);
    device.is_of_host = true;
    launch.host_may_write = true;
    return launch;
  };
  const Ran ran = run_with(settings_of(CompilationSettings::When::always), storing(), of_host);
  EXPECT_EQ(ran.memory[0][0], 4711 & 255);
  CompilationSettings settings = settings_of(CompilationSettings::When::always);
  settings.compiler = "/no such compiler";
  run_with(settings, storing(), of_four_threads);
  EXPECT_EQ(comparing.lines(),
            "left out\tk\tit accesses memory of the host, which does not wait for it\n"
            "left out\tk\tit cannot be compiled\n");
}

}  // namespace launch_comparison_test
}  // namespace opgate::simulator::tests
