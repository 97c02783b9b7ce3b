// Runs kernels interpreted and compiled, and expects that nothing differs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "fake_device.h"

namespace opgate::simulator::tests {

/// A new folder, which is removed with all that it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "opgate kernels XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << name << " cannot be made";
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Compiled kernels of all tests, unless the environment names a folder that outlives the program.
inline std::string folder_of_tests() {
  static const TemporaryFolder folder;
  const char* const given = std::getenv("OPGATE_SIM_CACHE");
  return given != nullptr ? given : folder.path().string();
}

inline CompilationSettings settings_of(CompilationSettings::When when) {
  CompilationSettings settings;
  settings.when = when;
  settings.folder = folder_of_tests();
  return settings;
}

/// Fills memory, and gives the launch and the addresses whose bytes are compared.
using Prepare = std::function<Launch(FakeDevice& device, std::vector<std::uint64_t>& results)>;

struct Ran {
  Outcome outcome;
  std::vector<std::vector<unsigned char>> memory;
  /// What compiled code could not do itself, if the kernel ran both ways.
  std::uint64_t left_to_interpreter = 0;
};

inline Ran run_with(const CompilationSettings& settings, const std::string& ptx, const Prepare& prepare) {
  FakeDevice device;
  const std::unique_ptr<Module> module = Module::parse(ptx);
  module->set_compilation(settings);
  place_variables(*module, device);
  std::vector<std::uint64_t> results;
  const Launch launch = prepare(device, results);
  Ran ran{module->run(launch, device), {}, 0};
  for (const std::uint64_t address : results) ran.memory.push_back(device.read<unsigned char>(address));
  return ran;
}

inline void expect_same(const Ran& a, const Ran& b) {
  const auto in_numbers = [](const Extent& index) {
    return std::vector<unsigned>{index.x, index.y, index.z};
  };
  EXPECT_EQ(static_cast<int>(a.outcome.fault), static_cast<int>(b.outcome.fault));
  EXPECT_EQ(a.outcome.message, b.outcome.message);
  EXPECT_EQ(a.outcome.instructions, b.outcome.instructions);
  EXPECT_EQ(a.outcome.location, b.outcome.location);
  EXPECT_EQ(in_numbers(a.outcome.block_index), in_numbers(b.outcome.block_index));
  EXPECT_EQ(in_numbers(a.outcome.thread_index), in_numbers(b.outcome.thread_index));
  EXPECT_EQ(a.memory, b.memory);
}

/// What the interpreter leaves, which compiled code must leave as well.
inline Ran run_both_ways(const std::string& ptx, const Prepare& prepare) {
  Ran interpreted = run_with(settings_of(CompilationSettings::When::never), ptx, prepare);
  const Ran compiled = run_with(settings_of(CompilationSettings::When::always), ptx, prepare);
  EXPECT_FALSE(interpreted.outcome.compiled);
  EXPECT_TRUE(compiled.outcome.compiled);
  expect_same(interpreted, compiled);
  interpreted.left_to_interpreter = compiled.outcome.left_to_interpreter;
  return interpreted;
}

}  // namespace opgate::simulator::tests
