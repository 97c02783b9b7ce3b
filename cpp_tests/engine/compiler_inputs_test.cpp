// The files that the compiler read count for the operators that they may be part of, and for no others.
#include "run/compiler_inputs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support.h"

namespace opgate::compiler_inputs_test {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

// A project with the operators `add` and `mul`, and a library in its folder `build`.
class CompilerInputsTest : public ::testing::Test {
 protected:
  CompilerInputsTest() {
    config_.file = root_ / "opgate.toml";
    for (const char* op : {"add", "mul"}) {
      Spec& subject = subjects_.emplace_back();
      subject.where = file(fmt::format("ops/{}/spec.cpp", op)).string() + ":3";
    }
    file("build/CMakeCache.txt");
    library_ = file("build/lib.so");
  }

  fs::path file(const std::string& name) {
    fs::create_directories((root_ / name).parent_path());
    return root_.write(name, name);
  }

  // Writes a dependency file for an object that is made from these files, and creates those that are relative.
  void object(const std::string& name, const std::vector<std::string>& files, bool create = true) {
    std::string rule = name + ":";
    for (const std::string& one : files) {
      if (create && fs::path(one).is_relative()) file(one);
      rule += " " + one;
    }
    fs::create_directories((root_ / ("build/" + name)).parent_path());
    root_.write("build/" + name + ".d", rule + "\n");
  }

  FilesRead read(size_t subject = 0) {
    fs::last_write_time(library_, fs::file_time_type::clock::now() + std::chrono::hours(1));
    return CompilerInputs(config_, {library_.string()}, subjects_).of(subjects_[subject]);
  }

  std::vector<std::string> names(size_t subject = 0) {
    std::vector<std::string> all;
    for (const auto& [name, digest] : read(subject).digests) all.push_back(name);
    return all;
  }

  TemporaryFolder root_;
  Config config_;
  std::vector<Spec> subjects_;
  fs::path library_;
};

TEST_F(CompilerInputsTest, AreThoseOfTheOperatorsOwnObjects) {
  object("add.o", {"ops/add/k.cu", "inc/reduce.cuh", "/usr/include/stdio.h"});
  object("mul.o", {"ops/mul/k.cu", "inc/other.cuh"});
  const FilesRead add = read();
  EXPECT_THAT(names(), ElementsAre("inc/reduce.cuh", "ops/add/k.cu"));
  EXPECT_EQ(add.digests.at("inc/reduce.cuh").size(), 40u);
  EXPECT_THAT(add.not_followed, IsEmpty());
  EXPECT_THAT(names(1), ElementsAre("inc/other.cuh", "ops/mul/k.cu"));
}

TEST_F(CompilerInputsTest, OfAUnitOfSeveralOperatorsCountForEach) {
  file("build/CMakeFiles/unity.cxx");
  object("unity.o", {"build/CMakeFiles/unity.cxx", "ops/add/k.cu", "inc/a.h", "ops/mul/k.cu", "inc/m.h"});
  EXPECT_THAT(names(), ElementsAre("inc/a.h", "inc/m.h", "ops/add/k.cu", "ops/mul/k.cu"));
  EXPECT_EQ(names(1), names());
  EXPECT_THAT(read().not_followed, IsEmpty()) << "nobody need know of the unit's own file";
}

TEST_F(CompilerInputsTest, OfKernelsInHeadersAreThoseOfTheObjectThatIncludesThem) {
  object("all.o", {"csrc/all.cu", "ops/add/kernel.cuh", "csrc/launch.h"});
  EXPECT_THAT(names(), ElementsAre("csrc/all.cu", "csrc/launch.h", "ops/add/kernel.cuh"));
  EXPECT_THAT(names(1), IsEmpty());
}

TEST_F(CompilerInputsTest, AreNotThoseOfAnotherOperatorThatIncludesAHeaderOfThisOne) {
  object("add.o", {"ops/add/k.cu", "ops/add/add.h"});
  object("mul.o", {"ops/mul/k.cu", "ops/add/add.h", "inc/m.h"});
  EXPECT_THAT(names(), ElementsAre("ops/add/add.h", "ops/add/k.cu"));
  EXPECT_THAT(names(1), ElementsAre("inc/m.h", "ops/add/add.h", "ops/mul/k.cu"));
}

TEST_F(CompilerInputsTest, OfPlacesInSourcesCountForAll) {
  object("shared.o", {"csrc/shared.cu", "inc/shared.h"});
  EXPECT_THAT(names(), IsEmpty());
  config_.sources = {root_ / "csrc"};
  EXPECT_THAT(names(), ElementsAre("csrc/shared.cu", "inc/shared.h"));
  EXPECT_THAT(read().not_followed, IsEmpty());
}

TEST_F(CompilerInputsTest, OfAPrecompiledHeaderCountForAll) {
  object("add.o", {"ops/add/k.cpp"});  // GCC does not say here what the precompiled header was made from
  object("CMakeFiles/x/cmake_pch.hxx.gch", {"inc/everywhere.h"});
  EXPECT_THAT(names(), ElementsAre("inc/everywhere.h", "ops/add/k.cpp"));
}

TEST_F(CompilerInputsTest, OfAModelAreThoseOfAll) {
  object("add.o", {"ops/add/k.cu"});
  object("mul.o", {"ops/mul/k.cu"});
  subjects_[0].kind = Spec::Kind::model;
  EXPECT_THAT(names(), ElementsAre("ops/add/k.cu", "ops/mul/k.cu"));
}

TEST_F(CompilerInputsTest, AreNotInstalledPackagesNorOpGatesOwnHeaders) {
  file(".venv/pyvenv.cfg");
  object("add.o", {"ops/add/k.cu", ".venv/include/a.h", "env/site-packages/torch/b.h",
                   "third_party/opgate/include/opgate/spec.h", "inc/opgate/mine.h"});
  EXPECT_THAT(names(), ElementsAre("inc/opgate/mine.h", "ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, ThatTheBuildGeneratesAreToldButNotListed) {
  object("add.o", {"ops/add/k.cu", "build/gen/version.h"});
  EXPECT_THAT(names(), ElementsAre("ops/add/k.cu"));
  EXPECT_THAT(read().not_followed,
              ElementsAre("build/gen/version.h is in the folder of the build and not in the checkout: "
                          "`sources` must name what it is made from"));
  object("add.o", {"ops/add/k.cu", "build/1.h", "build/2.h", "build/3.h", "build/4.h"});
  EXPECT_THAT(read().not_followed,
              ElementsAre(HasSubstr("build/1.h, build/2.h, build/3.h and 1 more are in the folder")));
}

TEST_F(CompilerInputsTest, ReachedThroughALinkOfTheBuildAreTheFilesOfTheProject) {
  file("inc/a.h");
  fs::create_directories(root_ / "build/include");
  fs::create_symlink("../../inc/a.h", root_ / "build/include/a.h");
  object("add.o", {"ops/add/k.cu"});
  object("add2.o", {"ops/add/k.cu", "build/include/a.h"}, /*create=*/false);
  EXPECT_THAT(names(), ElementsAre("inc/a.h", "ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, ReachedThroughALinkOfTheProjectChangeWithTheLink) {
  file("sm80/a.h");
  file("sm90/a.h");
  fs::create_directory_symlink("sm80", root_ / "arch");
  object("add.o", {"ops/add/k.cu"});
  object("add2.o", {"ops/add/k.cu", "arch/a.h"}, /*create=*/false);
  EXPECT_THAT(names(), ElementsAre("arch/a.h", "ops/add/k.cu"));
  const std::string before = read().digests.at("arch/a.h");
  fs::remove(root_ / "arch");
  fs::create_directory_symlink("sm90", root_ / "arch");
  EXPECT_NE(read().digests.at("arch/a.h"), before);
}

TEST_F(CompilerInputsTest, InAProjectThatIsReachedThroughALinkAreTheSame) {
  object("add.o", {"ops/add/k.cu", (root_ / "inc/a.h").string()});
  file("inc/a.h");
  const TemporaryFolder elsewhere;
  fs::create_directory_symlink(root_.path(), elsewhere / "link");
  const std::vector<std::string> before = names();
  config_.file = elsewhere / "link/opgate.toml";
  EXPECT_EQ(names(), before);
  EXPECT_THAT(before, ElementsAre("inc/a.h", "ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, AreRelativeToTheConfigurationAndReachUpToTheRepository) {
  file(".git");
  config_.file = file("tests/opgate.toml");
  object("add.o", {"ops/add/k.cu", "inc/a.h"});
  EXPECT_THAT(names(), ElementsAre("../inc/a.h", "../ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, OfAnObjectWhoseSourceIsGoneDoNotCount) {
  object("add.o", {"ops/add/k.cu", "inc/a.h"});
  object("old.o", {"ops/add/old.cu", "inc/old.h"});
  fs::remove(root_ / "ops/add/old.cu");
  EXPECT_THAT(names(), ElementsAre("inc/a.h", "ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, ThatAreNoLongerAsTheyWereCompiledHaveNoDigest) {
  object("add.o", {"ops/add/k.cu", "inc/a.h", "inc/b.h"});
  fs::last_write_time(root_ / "inc/a.h", fs::file_time_type::clock::now() + std::chrono::hours(2));
  fs::remove(root_ / "inc/b.h");
  const FilesRead add = read();
  EXPECT_EQ(add.digests.at("inc/a.h"), "");
  EXPECT_EQ(add.digests.at("inc/b.h"), "");
  EXPECT_NE(add.digests.at("ops/add/k.cu"), "");
}

TEST_F(CompilerInputsTest, AreUnknownForKernelsOutsideOfTheFolderOfTheSpec) {
  object("spec.o", {"ops/add/spec.cpp"});
  object("csrc.o", {"csrc/k.cu"});
  EXPECT_THAT(read().not_followed,
              ElementsAre("nothing but specs was compiled from ops/add/: if the kernels are elsewhere, name "
                          "their folder in `sources`"));
  subjects_[0].kernels_in_python = true;
  EXPECT_THAT(read().not_followed, IsEmpty());
}

TEST_F(CompilerInputsTest, AreFoundBesideALibraryWithoutAnyBuildFile) {
  fs::remove(root_ / "build/CMakeCache.txt");
  object("obj/add.o", {"ops/add/k.cu", "inc/a.h", "build/gen.h"});
  EXPECT_THAT(names(), ElementsAre("build/gen.h", "inc/a.h", "ops/add/k.cu"))
      << "nothing says that the folder has more than sources";
}

TEST_F(CompilerInputsTest, AreFoundInTheFolderThatTheConfigurationNames) {
  object("add.o", {"ops/add/k.cu", "inc/a.h"});
  file("build/build.ninja");
  library_ = file("python/lib.so");  // as `pip install -e` puts it
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(read().not_followed, ElementsAre(HasSubstr("were found in python/")));
  config_.build.folder = "build";
  EXPECT_THAT(names(), ElementsAre("inc/a.h", "ops/add/k.cu"));
}

TEST_F(CompilerInputsTest, AreNotSoughtBesideALibraryOfAnotherProject) {
  const TemporaryFolder elsewhere;
  library_ = elsewhere.write("lib.so", "");
  elsewhere.write("add.o.d", "add.o: " + file("ops/add/k.cu").string() + "\n");
  EXPECT_THAT(read().not_followed, ElementsAre(HasSubstr("no folder of a build is known")));
}

}  // namespace
}  // namespace opgate::compiler_inputs_test
