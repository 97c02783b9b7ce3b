#include "provenance/walk.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "support.h"

namespace opgate::walk_test {
namespace {

namespace fs = std::filesystem;

class WalkTest : public ::testing::Test {
 protected:
  WalkTest() {
    for (const char* folder : {"one", "two"}) {
      fs::create_directories(root_ / folder / "below");
      std::ofstream(root_ / folder / "below" / "file") << "text";
    }
  }

  const ::opgate::testing::TemporaryFolder root_;
};

TEST_F(WalkTest, VisitsWhatIsBelowTheFoldersThatAreWanted) {
  std::set<std::string> visited;
  walk(root_.path(), [&](const fs::directory_entry& entry) {
    visited.insert(entry.path().lexically_relative(root_.path()).string());
    return entry.path().filename() != "two";
  });
  EXPECT_EQ(visited, (std::set<std::string>{"one", "one/below", "one/below/file", "two"}));
}

// As caches beside a build are removed while it is read.
TEST_F(WalkTest, PassesOverAFolderThatIsRemovedMeanwhile) {
  size_t visited = 0;
  walk(root_.path(), [&](const fs::directory_entry& entry) {
    ++visited;
    fs::remove_all(entry.path());
    return true;
  });
  EXPECT_EQ(visited, 2);
}

TEST_F(WalkTest, RaisesForAFolderThatCannotBeListed) {
  EXPECT_THROW(walk(root_ / "one" / "below" / "file", [](const auto&) { return true; }),
               fs::filesystem_error);
}

}  // namespace
}  // namespace opgate::walk_test
