// The answer of the Python half is cached for as long as every file that it read is unchanged.
#include "run/python/python_catalog.h"

#include <gtest/gtest.h>
#include <opgate/error.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "run/python/module_inputs.h"

namespace opgate::python_half_test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class PythonMemoryTest : public ::testing::Test {
 protected:
  PythonMemoryTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    write("import torch\n");
  }
  ~PythonMemoryTest() override { fs::remove_all(folder_); }

  void write(const std::string& text) { std::ofstream(module_) << text; }

  json said(const json& variables = json::object()) const {
    struct stat status {};
    EXPECT_EQ(stat(module_.c_str(), &status), 0);
    const int64_t changed = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    return {{"torch", "2.15.0"},
            {"files", {{module_.string(), {status.st_size, changed}}}},
            {"inputs", {{"files", json::array()}, {"variables", variables}}}};
  }

  // The only file in the cache.
  fs::path kept() const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "opgate")) return entry.path();
    return {};
  }

  PythonCatalogCache memory() const { return {command_, setup_}; }

  // Each test has a folder of its own, because ctest runs tests in parallel.
  fs::path folder_ =
      fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::path module_ = folder_ / "my_specs.py";
  Command command_{{"python3", "-m", "opgate"}, {}};
  opgate::Setup setup_;  // GoogleTest has a Setup of its own
};

TEST_F(PythonMemoryTest, RecallsWhatWasKept) {
  EXPECT_EQ(memory().recall(), std::nullopt);
  memory().keep(said());
  EXPECT_EQ(memory().recall(), said());
}

TEST_F(PythonMemoryTest, ForgetsWhatItIsToldToForget) {
  memory().keep(said());
  memory().forget();
  EXPECT_EQ(memory().recall(), std::nullopt);
}

TEST_F(PythonMemoryTest, AFileThatChangedIsReadAnew) {
  memory().keep(said());
  write("import numpy\n");  // the size is the same, so only the time differs
  EXPECT_EQ(memory().recall(), std::nullopt);
}

TEST_F(PythonMemoryTest, AFileThatIsGoneIsReadAnew) {
  memory().keep(said());
  fs::remove(module_);
  EXPECT_EQ(memory().recall(), std::nullopt);
}

TEST_F(PythonMemoryTest, OtherSetupsAndEnvironmentsAreOthers) {
  memory().keep(said());
  opgate::Setup other = setup_;
  other.modules = {"my_specs"};
  EXPECT_EQ(PythonCatalogCache(command_, other).recall(), std::nullopt);
  EXPECT_EQ(PythonCatalogCache({{"python3.13", "-m", "opgate"}, {}}, setup_).recall(), std::nullopt);
  setenv("OPGATE_ANYTHING", "1", 1);
  EXPECT_EQ(memory().recall(), std::nullopt);
  unsetenv("OPGATE_ANYTHING");
  EXPECT_EQ(memory().recall(), said());
}

TEST_F(PythonMemoryTest, AVariableThatModulesReadIsReadAnewIfItHasChanged) {
  const char* const name = "SAMPLES_OF_PYTHON_MEMORY_TEST";
  const json kept = said({{name, digest_of_variable(name, command_)}});
  memory().keep(kept);
  EXPECT_EQ(memory().recall(), kept);
  setenv(name, "three", 1);
  EXPECT_EQ(memory().recall(), std::nullopt);
  setenv(name, "", 1);  // is set, and what hashlib gives for b""
  EXPECT_EQ(digest_of_variable(name, command_), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  unsetenv(name);
  EXPECT_EQ(memory().recall(), kept);
}

TEST_F(PythonMemoryTest, ADamagedFileIsNotBelieved) {
  memory().keep(said());
  for (const char* text : {"", "{", "[]", R"({"key": 1})", "\xff\xfe"}) {
    std::ofstream(kept()) << text;
    EXPECT_EQ(memory().recall(), std::nullopt) << text;
  }
}

TEST_F(PythonMemoryTest, WhereNothingCanBeWrittenNothingIsKept) {
  std::ofstream(folder_ / "opgate") << "a file where the folder should be";
  memory().keep(said());
  EXPECT_EQ(memory().recall(), std::nullopt);
  unsetenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  unsetenv("HOME");
  memory().keep(said());
  EXPECT_EQ(memory().recall(), std::nullopt);
  if (home != nullptr) setenv("HOME", before.c_str(), 1);
}

TEST(PythonCatalog, OfAnotherOpGateIsRefused) {
  EXPECT_THROW(python_catalog_from({{"checks", json::array()}, {"torch", "2.15.0"}}, "python3"), SetupError);
}

}  // namespace
}  // namespace opgate::python_half_test
