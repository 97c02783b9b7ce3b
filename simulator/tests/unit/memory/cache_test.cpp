// When kernels are compiled, and what happens to the files.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "both_ways.h"

namespace opgate::simulator::tests {
namespace cache_test {

namespace fs = std::filesystem;
using When = CompilationSettings::When;

constexpr const char* kBody =
    "mul.lo.u32 %r2, %r1, 3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;";

Launch prepare(FakeDevice& device, std::vector<std::uint64_t>& results) {
  results.push_back(device.allocate(std::vector<std::uint32_t>(64)));
  return launch_of("k", {}, {64}, Arguments(results.front()));
}

CompilationSettings settings_in(const fs::path& folder, When when = When::always) {
  CompilationSettings settings;
  settings.when = when;
  settings.folder = folder.string();
  return settings;
}

/// Whether compiled code has run. The results are right in any case.
bool runs_compiled(const CompilationSettings& settings) {
  const Ran ran = run_with(settings, kernel_of(kBody), &prepare);
  expect_no_fault(ran.outcome);
  std::vector<std::uint32_t> expected(64);
  for (std::uint32_t i = 0; i < 64; ++i) expected[i] = 3 * i;
  std::vector<std::uint32_t> values(64);
  std::memcpy(values.data(), ran.memory.front().data(), 256);
  EXPECT_EQ(values, expected);
  return ran.outcome.compiled;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

std::string contents_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(CompiledKernelFiles, AreKeptForOtherProcesses) {
  const TemporaryFolder folder;
  EXPECT_TRUE(runs_compiled(settings_in(folder.path() / "one/of its own")));
  const std::vector<fs::path> files = files_in(folder.path() / "one/of its own");
  ASSERT_EQ(files.size(), 1u);
  struct stat before = {};
  ASSERT_EQ(stat(files[0].c_str(), &before), 0);
  EXPECT_TRUE(runs_compiled(settings_in(folder.path() / "one/of its own")));
  struct stat after = {};
  ASSERT_EQ(stat(files[0].c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "it was compiled again";
}

TEST(CompiledKernelFiles, AnotherKernelIsAnotherFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(runs_compiled(settings_in(folder.path())));
  run_with(settings_in(folder.path()), kernel_of("st.global.u32 [%rd1], 4;"), &prepare);
  EXPECT_EQ(files_in(folder.path()).size(), 2u);
}

TEST(CompiledKernelFiles, ThatAreNotWholeAreReplaced) {
  const TemporaryFolder folder;
  EXPECT_TRUE(runs_compiled(settings_in(folder.path())));
  const fs::path file = files_in(folder.path()).at(0);
  const std::string whole = contents_of(file);
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
  for (const std::string& broken :
       {std::string(), std::string("nonsense"), whole.substr(0, 5000), whole.substr(0, whole.size() - 1),
        whole.substr(0, whole.size() - 48), changed}) {
    SCOPED_TRACE(broken.size());
    // Not in place: the kernel that is loaded is this file.
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << broken;
    EXPECT_TRUE(runs_compiled(settings_in(folder.path())));
    EXPECT_EQ(contents_of(file).size(), whole.size());
    EXPECT_NE(contents_of(file), broken);
  }
}

TEST(CompiledKernelFiles, OfProcessesThatCompileAtOnce) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      _exit(runs_compiled(settings_in(folder.path())) && !::testing::Test::HasFailure() ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(files_in(folder.path()).size(), 1u) << "folders of compilations must not stay";
  EXPECT_TRUE(runs_compiled(settings_in(folder.path())));
}

TEST(CompiledKernelFiles, WithoutFolderOrCompilerIsInterpreted) {
  EXPECT_FALSE(runs_compiled(settings_in("/proc/no such folder", When::automatic)));
  EXPECT_FALSE(runs_compiled(settings_in("/dev/null/no folder")));
  const TemporaryFolder folder;
  CompilationSettings settings = settings_in(folder.path());
  settings.compiler = "/no such compiler";
  EXPECT_FALSE(runs_compiled(settings));
  // It says what version it is, but cannot compile.
  const fs::path fails = folder.path() / "a compiler that fails";
  std::ofstream(fails) << "#!/bin/sh\nfor a; do last=$a; done\n[ \"$last\" = --version ]\n";
  fs::permissions(fails, fs::perms::owner_all);
  settings.compiler = fails.string();
  EXPECT_FALSE(runs_compiled(settings));
  EXPECT_EQ(files_in(folder.path()), std::vector<fs::path>{fails});
}

TEST(CompiledKernelFilesDeathTest, SaysOnceWhyNothingIsCompiled) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // another process, which has said nothing yet
  const auto run_twice = [](When when) {
    CompilationSettings settings = settings_in("/dev/null/no folder", when);
    settings.compiler = "/no such compiler";
    runs_compiled(settings);
    runs_compiled(settings);
    std::fputs("end\n", stderr);
    std::exit(0);
  };
  EXPECT_EXIT(run_twice(When::always), ::testing::ExitedWithCode(0),
              "^simulator: kernels are interpreted, not compiled: there is no C compiler\nend\n$");
  EXPECT_EXIT(run_twice(When::automatic), ::testing::ExitedWithCode(0), "^end\n$");
}

// A launch of so many threads, each of which goes round a loop so often.
Ran run_loop(const CompilationSettings& settings, unsigned blocks, unsigned rounds) {
  const std::string body =
      "ld.global.u32 %r3, [%rd1]; mov.u32 %r2, 0; mov.f32 %f1, 0f3F800000;\nagain: fma.rn.f32 %f1, %f1, "
      "0f3F7F0000, 0f3C000000; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r3; @%p1 bra again;\n"
      "mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 64, %r1; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd2, %rd2, "
      "%rd1; st.global.f32 [%rd2+256], %f1;";
  return run_with(settings, kernel_of(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    std::vector<std::uint32_t> values(64 * (blocks + 1));
    values[0] = rounds;
    results.push_back(device.allocate(values));
    Launch launch = launch_of("k", {blocks}, {64}, Arguments(results.front()));
    launch.instruction_limit = 0;
    return launch;
  });
}

TEST(CompiledKernelFiles, OnlyLongLaunchesAreCompiled) {
  const TemporaryFolder folder;
  const CompilationSettings automatic = settings_in(folder.path(), When::automatic);
  EXPECT_FALSE(run_loop(automatic, 2, 100).outcome.compiled);
  EXPECT_TRUE(files_in(folder.path()).empty());
  // How long this one takes shows only while it runs: the blocks that are left are compiled.
  const Ran ran = run_loop(automatic, 300, 700);
  EXPECT_TRUE(ran.outcome.compiled);
  expect_same(ran, run_loop(settings_in(folder.path(), When::never), 300, 700));
  // What is in the folder is used for less.
  EXPECT_TRUE(run_loop(automatic, 40, 700).outcome.compiled);
  EXPECT_FALSE(run_loop(settings_in(folder.path(), When::never), 40, 700).outcome.compiled);
}

}  // namespace cache_test
}  // namespace opgate::simulator::tests
