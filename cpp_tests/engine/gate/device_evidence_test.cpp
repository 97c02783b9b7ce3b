// Evidence from machines with a GPU counts for as long as what was tested is unchanged, and no longer.
#include "gate/evidence/device_evidence.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include <cstdlib>
#include <fstream>

#include "device/ctest_gpus.h"
#include "gate/broken.h"
#include "plan/plan.h"
#include "provenance/source_digests.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::device_evidence_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::TemporaryFolder;
using testing::text_of;

const Tested kTested{"2.15.0", "e1", "s1", {{"csrc/a b.cuh", "d1"}, {"csrc/a.h", "d2"}}};

DeviceEvidence some_evidence() {
  return {
      "cuda",  "NVIDIA \"H200\"",
      kTested, {{"value.layout", {18, "2026-11-22", "1.1.1"}}, {"run.stream", {2, "2026-11-21", "2.1.1"}}},
      {},      {"what is \"generated\"", "and more"}};
}

TEST(DeviceEvidence, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const Evidences written{{"op", {some_evidence()}}, {"other::op.out", {some_evidence()}}};
  EXPECT_THAT(add_evidence(folder / "evidence", written), ElementsAre("op", "other::op.out"));
  EXPECT_THAT(add_evidence(folder / "evidence", written), IsEmpty());
  const Evidences read = read_evidence(folder / "evidence");
  ASSERT_EQ(read.size(), 2u);
  const DeviceEvidence& one = read.at("other::op.out").at(0);
  EXPECT_EQ(in_words(one), "evidence: NVIDIA \"H200\"");
  EXPECT_EQ(in_words(one, "2026-11-22"), "evidence: NVIDIA \"H200\", 2026-11-22");
  EXPECT_EQ(one.device, "cuda");
  EXPECT_EQ(one.tested, kTested);
  EXPECT_EQ(one.checks, some_evidence().checks);
  EXPECT_EQ(one.files_not_followed, some_evidence().files_not_followed);
  EXPECT_FALSE(one.is_older);
}

TEST(DeviceEvidence, OfTheSameSourcesAddsChecksAndOfOthersReplacesThem) {
  const TemporaryFolder folder;
  add_evidence(folder.path(), {{"op", {some_evidence()}}});
  DeviceEvidence more = some_evidence();
  more.checks = {{"memory.bounds", {5, "2026-11-23", "1.1.1"}}};
  add_evidence(folder.path(), {{"op", {more}}});
  EXPECT_EQ(read_evidence(folder.path()).at("op").at(0).checks.size(), 3u);
  EXPECT_EQ(read_evidence(folder.path()).at("op").at(0).checks.at("run.stream").date, "2026-11-21");
  more.tested.sources = "s2";
  add_evidence(folder.path(), {{"op", {more}}});
  ASSERT_EQ(read_evidence(folder.path()).at("op").size(), 1u);
  EXPECT_EQ(read_evidence(folder.path()).at("op").at(0).checks, more.checks);
  more.tested.torch = "2.11.0";  // of another torch stands beside it
  add_evidence(folder.path(), {{"op", {more}}});
  EXPECT_EQ(read_evidence(folder.path()).at("op").size(), 2u);
}

TEST(DeviceEvidence, OfACheckEndsWhereItFails) {
  const TemporaryFolder folder;
  add_evidence(folder.path(), {{"op", {some_evidence()}}});
  DeviceEvidence failing = some_evidence();
  failing.checks.clear();
  failing.failed = {"value.layout"};
  EXPECT_THAT(add_evidence(folder.path(), {{"op", {failing}}}), ElementsAre("op"));
  EXPECT_FALSE(read_evidence(folder.path()).at("op").at(0).checks.contains("value.layout"));
  failing.failed = {"run.stream"};
  add_evidence(folder.path(), {{"op", {failing}}});
  EXPECT_THAT(read_evidence(folder.path())["op"], IsEmpty());
}

TEST(DeviceEvidence, HoldsWhileWhatWasTestedIsTheSame) {
  const DeviceEvidence evidence = some_evidence();
  EXPECT_EQ(difference(evidence, kTested), "");
  EXPECT_EQ(difference(evidence, {"2.15.0", "e1", "s2", kTested.files_read}),
            "the sources of the operator have changed");
  EXPECT_EQ(difference(evidence, {"2.11.0", "e2", "s1", kTested.files_read}),
            "the Python modules of the project have changed, torch was 2.15.0 and is 2.11.0 here");
}

TEST(DeviceEvidence, EndsWhereAFileThatTheCompilerReadIsAnotherOrGone) {
  const DeviceEvidence evidence = some_evidence();
  Tested now = kTested;
  now.files_read["csrc/a.h"] = "other";
  EXPECT_EQ(difference(evidence, now), "csrc/a.h has changed");
  now.files_read["csrc/a b.cuh"] = "";
  EXPECT_EQ(difference(evidence, now), "csrc/a b.cuh is missing, csrc/a.h has changed");
  now.sources = "s2";  // the file that has changed is in the operator's folder: one name is enough
  EXPECT_EQ(difference(evidence, now), "csrc/a b.cuh is missing, csrc/a.h has changed");
  DeviceEvidence many = some_evidence();
  for (const char* file : {"1.h", "2.h", "3.h", "4.h", "5.h"}) many.tested.files_read[file] = "d";
  now = many.tested;
  for (auto& [file, digest] : now.files_read) digest = "other";
  EXPECT_EQ(difference(many, now), "1.h has changed, 2.h has changed, 3.h has changed, 4 more files differ");
}

TEST(DeviceEvidence, OfAnOlderOpGateIsReadAndDoesNotHold) {
  const TemporaryFolder folder;
  folder.write("op.toml",
               "[[cuda]]\nmodel = \"H200\"\ntorch = \"2.15.0\"\nengine = \"e1\"\nsources = \"s1\"\n"
               "[cuda.checks]\n\"value.layout\" = { cases = 18, date = \"2026-11-22\" }\n");
  const DeviceEvidence older = read_evidence(folder.path()).at("op").at(0);
  EXPECT_THAT(difference(older, {"2.15.0", "e1", "s1"}), HasSubstr("an older OpGate wrote it"));
  DeviceEvidence newer = older;
  newer.is_older = false;
  newer.checks = {{"run.stream", {2, "2026-11-23", "1.1.1"}}};
  add_evidence(folder.path(), {{"op", {newer}}});  // must not make the older checks valid
  EXPECT_EQ(read_evidence(folder.path()).at("op").at(0).checks, newer.checks);
}

TEST(DeviceEvidence, ThatIsNoneIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  for (const char* text : {"cuda = 3\n", "[[cuda]]\nmodel = 3\n", "[[cuda]]\nchecks = { x = \"many\" }\n",
                           "[[cuda]]\nspeed = \"1\"\n", "[[cuda]]\nfiles_read = { \"a.h\" = 3 }\n",
                           "[[cuda]]\nfiles_not_followed = [3]\n", "<<<<<<< HEAD\n", "?\n"}) {
    std::ofstream(folder / "op.toml") << text;
    EXPECT_THAT(message_of<SetupError>([&] { read_evidence(folder.path()); }), HasSubstr("op.toml")) << text;
  }
  EXPECT_THAT(read_evidence(folder / "nowhere"), IsEmpty());
}

// A run whose CUDA cases all passed, except those of one check.
RunState run_on_gpu() {
  RunState run;
  run.header.torch = "2.15.0";
  run.header.sources = "e1";
  run.header.started = "2026-11-22T10:00:00Z";
  run.header.revisions = {{"ok", "3.1.1"}};
  run.header.devices = {{"cuda", "NVIDIA H200"}};
  run.header.filter = Filter();
  SubjectState& subject = run.state["op"];
  subject.facts.sources = "s1";
  subject.facts.files_read = kTested.files_read;
  const ByDtype<size_t> two{{"float32", 1}, {"float64", 1}};
  const std::set<std::string> both{"float32", "float64"};
  subject.devices["cuda"].planned.add("4", "contiguous",
                                      {{"ok", both}, {"owed", both}, {"broken", both}, {"elsewhere", both}});
  subject.devices["cuda"].owed = {{"owed", {{"float32", 1}}}};
  subject.devices["cuda"].by_evidence = {{"elsewhere", two}};
  subject.devices["cpu"].planned.add("4", "contiguous", {{"ok", both}});
  run.broken = {{"op/float32/4/contiguous/cuda/broken", {}, 0}};
  return run;
}

TEST(DeviceEvidence, IsOfChecksThatPassedThereAndThen) {
  const Evidences evidence = evidence_of(run_on_gpu());
  ASSERT_EQ(evidence.size(), 1u);
  ASSERT_EQ(evidence.at("op").size(), 1u);
  EXPECT_EQ(evidence.at("op").at(0).checks,
            (std::map<std::string, DeviceEvidence::Passed>{{"ok", {2, "2026-11-22", "3.1.1"}}}));
  EXPECT_THAT(evidence.at("op").at(0).failed, ElementsAre("broken"));
  EXPECT_EQ(evidence.at("op").at(0).tested, kTested);
  RunState unknown = run_on_gpu();
  unknown.state["op"].facts.sources = "";
  EXPECT_THAT(evidence_of(unknown), IsEmpty());
  RunState uncompiled = run_on_gpu();
  uncompiled.state["op"].facts.files_read["csrc/a.h"] = "";
  EXPECT_THAT(evidence_of(uncompiled), IsEmpty());
  EXPECT_THAT(uncompiled_of(uncompiled.state["op"].facts), ElementsAre("csrc/a.h"));
}

TEST(DeviceEvidence, IsNotOfSomeCasesOfACheck) {
  RunState some = run_on_gpu();
  some.header.filter = Filter{{}, {}, {}, {"*/contiguous/*"}};
  EXPECT_THAT(message_of<SetupError>([&] { evidence_of(some); }), HasSubstr("only some cases"));
}

TEST(SourceDigests, ChangeWithWhatTheOperatorIsMadeFromAndNothingElse) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ops/add");
  std::filesystem::create_directories(folder / "ops/common");
  std::filesystem::create_directories(folder / "ops/mul");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("ops/add/spec.cpp", "spec");
  write("ops/add/cpu.cpp", "kernel");
  write("ops/mul/spec.cpp", "spec");
  write("ops/common/shared.h", "shared");
  Config config;
  config.sources = {folder / "ops/common"};
  std::vector<Spec> subjects(2);
  subjects[0].where = (folder / "ops/add/spec.cpp").string() + ":3";
  subjects[1].where = (folder / "ops/mul/spec.cpp").string() + ":3";
  const auto digest = [&](size_t subject) {
    return SourceDigests(config, {}, subjects).of(subjects[subject]);
  };
  const std::string before = digest(0);
  EXPECT_EQ(before.size(), 40u);
  write("ops/mul/spec.cpp", "other");
  write("ops/add/notes.txt", "no source");
  write("ops/add/.cpu.cpp.swp", "hidden");
  EXPECT_EQ(digest(0), before);
  write("ops/add/ledger.toml", "what `opgate accept` writes");
  EXPECT_EQ(digest(0), before);
  write("ops/add/cpu.cpp", "kernel, fixed");
  const std::string fixed = digest(0);
  EXPECT_NE(fixed, before);
  write("ops/common/shared.h", "other");
  EXPECT_NE(digest(0), fixed);
  config.sources = {folder / "gone"};
  EXPECT_THAT(message_of<SetupError>([&] { digest(0); }), HasSubstr("`sources` names"));
  config.sources = {};
  subjects[0].where = "/not/here/spec.cpp:3";
  EXPECT_EQ(digest(0), "");
}

TEST(SourceDigests, AreNotOfWhatWasNotBuilt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "spec.cpp") << "kernel";
  std::ofstream(folder / "lib.so") << "built";
  std::vector<Spec> subjects(1);
  subjects[0].where = (folder / "spec.cpp").string() + ":3";
  const std::vector<std::string> libraries{folder / "lib.so"};
  EXPECT_NE(SourceDigests({}, libraries, subjects).of(subjects[0]), "");
  std::filesystem::last_write_time(
      folder / "spec.cpp", std::filesystem::last_write_time(folder / "lib.so") + std::chrono::seconds(1));
  EXPECT_EQ(SourceDigests({}, libraries, subjects).of(subjects[0]), "");
}

TEST(SourceDigests, OfAModelAreOfAllThatItMayCall) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ops");
  std::filesystem::create_directories(folder / "models");
  std::ofstream(folder / "ops/spec.cpp") << "kernel";
  std::ofstream(folder / "models/models.py") << "model";
  std::vector<Spec> subjects(2);
  subjects[0].where = (folder / "ops/spec.cpp").string() + ":3";
  subjects[1].where = (folder / "models/models.py").string() + ":3";
  subjects[1].kind = Spec::Kind::model;
  const std::string before = SourceDigests({}, {}, subjects).of(subjects[1]);
  std::ofstream(folder / "ops/spec.cpp") << "other kernel";
  EXPECT_NE(SourceDigests({}, {}, subjects).of(subjects[1]), before);
}

TEST(CtestGpus, AreThoseThatTheProcessSees) {
  setenv("CTEST_RESOURCE_GROUP_COUNT", "2", 1);
  setenv("CTEST_RESOURCE_GROUP_0_GPUS", "id:3,slots:1", 1);
  setenv("CTEST_RESOURCE_GROUP_1_GPUS", "id:0,slots:1;id:GPU-7f,slots:2", 1);
  const char* seen_before = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string before = seen_before == nullptr ? "" : seen_before;
  take_ctest_gpus();
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "3,0,GPU-7f");
  setenv("CTEST_RESOURCE_GROUP_0_GPUS", "3", 1);
  EXPECT_THAT(message_of<SetupError>([] { take_ctest_gpus(); }), HasSubstr("is not what ctest says"));
  for (const char* name :
       {"CTEST_RESOURCE_GROUP_COUNT", "CTEST_RESOURCE_GROUP_0_GPUS", "CTEST_RESOURCE_GROUP_1_GPUS"})
    unsetenv(name);
  seen_before == nullptr ? unsetenv("CUDA_VISIBLE_DEVICES")
                         : setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1);
}

}  // namespace
}  // namespace opgate::device_evidence_test
