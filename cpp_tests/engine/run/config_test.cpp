// opgate.toml and the libraries that it names: every mistake is reported with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include <cstdlib>

#include "plan/config.h"
#include "process/libraries/library.h"
#include "support.h"

namespace opgate::config_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Pair;
using ::testing::StrEq;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

class ConfigTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("OPGATE_LIBRARY_PATH"); }

  Config config(const std::string& text) const { return read_config(folder_.write("opgate.toml", text)); }
  std::string refusal(const std::string& text) const {
    return message_of<SetupError>([&] { config(text); });
  }
  fs::path place(const std::string& folder, const std::string& library) const {
    fs::create_directories(folder_ / folder);
    return folder_.write(folder + "/" + library, "");
  }

  TemporaryFolder folder_;
};

TEST_F(ConfigTest, ReadsEverySetting) {
  const Config read = config(
      "libraries = ['a.so', 'b.so']\nspecs = ['s.so']\npython = ['m']\npython_path = ['py']\n"
      "library_path = ['lib', '/abs']\noutput = 'out'\nenvironment = { A = '1' }\n");
  EXPECT_EQ(read.file, folder_ / "opgate.toml");
  EXPECT_THAT(read.libraries, ElementsAre("a.so", "b.so"));
  EXPECT_THAT(read.specs, ElementsAre("s.so"));
  EXPECT_THAT(read.modules, ElementsAre("m"));
  EXPECT_THAT(read.python_path, ElementsAre(folder_ / "py"));
  EXPECT_THAT(read.library_path, ElementsAre(folder_ / "lib", fs::path("/abs")));
  EXPECT_EQ(read.output, folder_ / "out");
  EXPECT_THAT(read.environment, ElementsAre(Pair("A", "1")));
}

TEST_F(ConfigTest, SetsVariablesThatAreNotSet) {
  ::setenv("OPGATE_TEST_SET", "before", 1);
  ::unsetenv("OPGATE_TEST_UNSET");
  config("[environment]\nOPGATE_TEST_SET = 'new'\nOPGATE_TEST_UNSET = 'new'\n").apply_environment();
  EXPECT_THAT(std::getenv("OPGATE_TEST_SET"), StrEq("before"));
  EXPECT_THAT(std::getenv("OPGATE_TEST_UNSET"), StrEq("new"));
  ::unsetenv("OPGATE_TEST_SET");
  ::unsetenv("OPGATE_TEST_UNSET");
}

TEST_F(ConfigTest, HasAnOutputFolderWithoutBeingTold) { EXPECT_EQ(config("").output, folder_ / ".opgate"); }

TEST_F(ConfigTest, NamesTheLineOfAnUnknownSetting) {
  EXPECT_THAT(
      refusal("libraries = []\n\nlibrarys = ['a.so']\n"),
      AllOf(HasSubstr("opgate.toml:3: `librarys` is no setting of OpGate"), HasSubstr("library_path")));
  EXPECT_THAT(refusal("[tool]\nspecs = []\n"), HasSubstr("`tool` is no setting"));
}

TEST_F(ConfigTest, NamesTheLineOfAWrongType) {
  EXPECT_THAT(refusal("\nspecs = 'a.so'\n"), HasSubstr("opgate.toml:2: `specs` must be a list of strings"));
  EXPECT_THAT(refusal("libraries = [\n  'a.so',\n  3,\n]\n"),
              HasSubstr("opgate.toml:3: `libraries` must be a list of strings"));
  EXPECT_THAT(refusal("output = ['a']\n"),
              AllOf(HasSubstr("opgate.toml:1: `output`"), HasSubstr("a string")));
  EXPECT_THAT(refusal("environment = ['A=1']\n"),
              HasSubstr("opgate.toml:1: `environment` must be a table of strings"));
  EXPECT_THAT(refusal("[environment]\nA = 1\n"),
              HasSubstr("opgate.toml:2: `environment` must be a table of strings"));
}

TEST_F(ConfigTest, NamesTheLineThatIsNoToml) {
  EXPECT_THAT(refusal("specs = []\nlibraries = [\n'a.so'\nspecs"), HasSubstr("opgate.toml:4:"));
  EXPECT_THAT(refusal("specs = []\nspecs = []\n"), HasSubstr("opgate.toml:2:"));
}

TEST_F(ConfigTest, SaysThatTheFileIsMissing) {
  EXPECT_THAT(message_of<SetupError>([&] { read_config(folder_ / "other.toml"); }),
              AllOf(HasSubstr("other.toml"), HasSubstr("no such file")));
}

TEST_F(ConfigTest, IsTheNearestOneUpwardsUnlessNamed) {
  const fs::path before = fs::current_path();
  config("specs = ['outer.so']");
  fs::create_directories(folder_ / "inner/deep");
  fs::current_path(folder_ / "inner/deep");
  const Config outer = read_config({});
  folder_.write("inner/opgate.toml", "specs = ['inner.so']");
  const Config inner = read_config({});
  fs::current_path("/");
  const std::string none = message_of<SetupError>([] { read_config({}); });
  fs::current_path(before);
  EXPECT_THAT(outer.specs, ElementsAre("outer.so"));
  EXPECT_THAT(inner.specs, ElementsAre("inner.so"));
  EXPECT_THAT(none, AllOf(HasSubstr("no opgate.toml in /"), HasSubstr("--config")));
}

TEST_F(ConfigTest, LooksForALibraryInOrder) {
  const Config read = config("library_path = ['first', 'second']");
  setenv("OPGATE_LIBRARY_PATH", ((folder_ / "third").string() + ":" + (folder_ / "fourth").string()).c_str(),
         1);
  for (const char* folder : {"fourth", "third", "second", "first", "."}) {
    const fs::path nearer = place(folder, "x.so");
    EXPECT_TRUE(fs::equivalent(read.find_library("x.so"), nearer)) << folder;
  }
}

TEST_F(ConfigTest, FindsALibraryBesideTheProgram) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::string message = message_of<SetupError>([&] { config("").find_library("no-such.so"); });
  EXPECT_THAT(message, HasSubstr((program.parent_path().parent_path() / "lib").string()));
}

TEST_F(ConfigTest, TakesALibraryWithASlashAsItStands) {
  const Config read = config("library_path = ['first']");
  place("first", "x.so");
  EXPECT_EQ(read.find_library("build/x.so"), folder_ / "build/x.so");
  EXPECT_EQ(read.find_library("/abs/x.so"), "/abs/x.so");
}

TEST_F(ConfigTest, SaysWhereItLookedForALibrary) {
  const Config read = config("library_path = ['first']");
  setenv("OPGATE_LIBRARY_PATH", "/nowhere/third", 1);
  EXPECT_THAT(
      message_of<SetupError>([&] { read.find_library("x.so"); }),
      AllOf(HasSubstr("library x.so is missing"), HasSubstr(folder_.path().string() + ","),
            HasSubstr((folder_ / "first").string()), HasSubstr("/nowhere/third"), HasSubstr("opgate.toml")));
}

TEST_F(ConfigTest, SaysThatAFileIsNoLibrary) {
  const fs::path text = folder_.write("text.so", std::string(4096, 'x'));
  EXPECT_THAT(message_of<SetupError>([&] { load_library(text); }),
              AllOf(HasSubstr("text.so cannot be loaded"), HasSubstr("invalid ELF header")));
  EXPECT_THAT(message_of<SetupError>([&] { load_library(folder_.write("empty.so", "")); }),
              HasSubstr("empty.so cannot be loaded"));
}

TEST_F(ConfigTest, SaysThatALibraryIsMissing) {
  EXPECT_THAT(message_of<SetupError>([&] { load_library(folder_ / "none.so"); }),
              HasSubstr("none.so is missing"));
  const Config read = config("libraries = ['none.so']");
  EXPECT_THAT(message_of<SetupError>([&] { read.find_library("none.so"); }),
              HasSubstr("library none.so is missing"));
}

}  // namespace
}  // namespace opgate::config_test
