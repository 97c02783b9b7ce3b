// The accepted state as text: what is read equals what was written, whatever the names are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opgate/error.h>

#include <fstream>

#include "gate/ledger/ledger.h"
#include "gate/partial.h"
#include "spec/naming_words.h"
#include "support.h"

namespace opgate::ledger_test {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::TemporaryFolder;
using testing::text_of;

constexpr auto kMachine = "torch 2.15.0, AVX2";

SubjectState some_subject() {
  SubjectState subject;
  SubjectFacts& facts = subject.facts;
  facts.schema = "my::op(Tensor x) -> Tensor";
  facts.kernels = {"CPU"};
  facts.python_kernels = {"Meta", "Autograd"};
  facts.tags = {"pt2_compliant_tag"};
  facts.promises = {"deterministic"};
  facts.accuracy = AccuracyFacts{4, "inputs", "input"};
  facts.gradient_accuracy = AccuracyFacts{};
  facts.reference = "aten::clone";
  facts.draft = true;
  for (const NamingWord& word : kNamingWords) facts.named[std::string(word.key)] = {"1", "x"};
  facts.dtypes = {{"cpu", {"float32", "float64"}}};
  facts.samples = {{"4x8", R"([{"shape":[4,8],"values":"uniform"}])"}};
  facts.rejections = {{"a \"bad\" one", R"([null] raises "no")"}};
  facts.benches = {{"64x64", "[] in float32"}};
  facts.speed_limits = {{"64x64, forward", 0.95}};
  DeviceState& cpu = subject.devices["cpu"];
  cpu.planned.add("4x8", "contiguous", {{"value.reference", {"float32", "float64"}}});
  cpu.planned.add("4x8", "x=stepped", {{"value.layout", {"float32"}}, {"effect.alias", {"float32"}}});
  cpu.planned.add("a \"quoted\" = [sample]", "x=stepped", {{"value.layout", {"float64"}}});
  cpu.owed = {{"value.layout", {{"float64", 1}}}};
  cpu.values = {{"4x8", {{"float32", "32: 1 2 3 4"}}}};
  cpu.reference = {{"4x8", {{"float32", "32: 1 2 3 5"}}}};
  cpu.machines = {{kMachine,
                   {{{"value.reference", {{"float32", 0.5}}}},
                    {{"4x8", {{"float32", "0123456789abcdef"}}}},
                    {{"64x64, forward, float32", {{"ratio", 1.5}}}}}}};
  cpu.outputs = {
      {"a \"quoted\" = [sample]", {{"contiguous", "[4] strides (1)"}, {"x=stepped, float64", "raises"}}}};
  return subject;
}

TEST(Ledger, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const State state{{"op", some_subject()}, {"other::op.out", some_subject()}};
  write_ledger(folder / "ledger", state, false);
  const State read = read_ledger(folder / "ledger");
  ASSERT_EQ(read.size(), 2u);
  for (const auto& [id, subject] : state) {
    EXPECT_EQ(read.at(id).facts, subject.facts);
    EXPECT_EQ(read.at(id).devices, subject.devices);
  }
}

TEST(Ledger, WritesOnlyWhatChangedAndRemovesWhatIsGone) {
  const TemporaryFolder folder;
  State state{{"a", some_subject()}, {"b", some_subject()}, {"c", some_subject()}};
  EXPECT_THAT(write_ledger(folder / "ledger", state, false).added, ElementsAre("a", "b", "c"));
  state.erase("a");
  state["b"].facts.accuracy->ulps = 8;
  const LedgerChanges changes = write_ledger(folder / "ledger", state, false);
  EXPECT_THAT(changes.removed, ElementsAre("a"));
  EXPECT_THAT(changes.changed, ElementsAre("b"));
  EXPECT_THAT(changes.unchanged, ElementsAre("c"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ledger/a.toml"));
}

TEST(Ledger, KeepsOperatorsThatWereNotRun) {
  const TemporaryFolder folder;
  write_ledger(folder / "ledger", {{"a", some_subject()}, {"b", some_subject()}}, false);
  EXPECT_TRUE(write_ledger(folder / "ledger", {{"a", some_subject()}}, true).removed.empty());
  EXPECT_EQ(read_ledger(folder / "ledger").size(), 2u);
}

TEST(Ledger, LeavesNoOtherFileBehind) {
  const TemporaryFolder folder;
  write_ledger(folder / "ledger", {{"a", some_subject()}}, false);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "ledger")) files += entry.exists();
  EXPECT_EQ(files, 1u);
  EXPECT_THAT(text_of(folder / "ledger/a.toml"), HasSubstr("# a, as it was accepted"));
}

std::string refusal_of(const std::string& text) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "ledger");
  std::ofstream(folder / "ledger/op.toml") << text;
  try {
    read_ledger(folder / "ledger");
  } catch (const SetupError& error) {
    return error.what();
  }
  return "";
}

TEST(Ledger, RefusesAFileThatIsNotWhole) {
  EXPECT_THAT(refusal_of(""), HasSubstr("this file is empty"));
  EXPECT_THAT(refusal_of("tags = []\n"), HasSubstr("no whole file of a ledger"));
  const std::string kernels = "schema = \"a::b() -> ()\"\nkernels = []\n";
  const std::string planned = "[planned]\ndevices = [\"cpu\"]\n";
  EXPECT_EQ(refusal_of(kernels + planned), "");
  EXPECT_THAT(refusal_of(kernels), HasSubstr("no whole file of a ledger"));
  EXPECT_THAT(refusal_of(kernels + "ulps = 4\n" + planned), HasSubstr("op.toml:3"));
  EXPECT_THAT(refusal_of(kernels + "accuracy = \"4 inches\"\n" + planned), HasSubstr("op.toml:3"));
}

TEST(SomeChecks, LeaveTheirCasesOfTheBaseAndNothingThatHasNone) {
  State base{{"op", some_subject()}, {"model", some_subject()}};
  DeviceState& model = base["model"].devices["cpu"];
  model.planned = {};
  model.planned.add("4x8", "contiguous", {{"compile.equal", {"float32"}}});
  base["op"].devices["cuda"] = model;
  keep_checks({"value"}, base);
  ASSERT_THAT(base, ElementsAre(Pair("op", Field(&SubjectState::devices, ElementsAre(Pair("cpu", _))))));
  EXPECT_THAT(base["op"].devices["cpu"].planned.count(),
              ElementsAre(Pair("value.layout", _), Pair("value.reference", _)));
}

TEST(UncheckedDevices, KeepWhatAnotherMachineSaw) {
  State base{{"op", some_subject()}}, head = base;
  head["op"].devices["cuda"] = base["op"].devices["cuda"] = some_subject().devices["cpu"];
  DeviceState& here = head["op"].devices["cuda"];
  here.owed = here.planned.count();
  here.machines.clear();
  here.values.clear();
  here.outputs.clear();
  keep_unchecked_devices(base, head);
  EXPECT_EQ(here.machines, base["op"].devices["cuda"].machines);
  EXPECT_EQ(here.values, base["op"].devices["cuda"].values);
  EXPECT_EQ(here.owed, here.planned.count()) << "and are owed all the same";
  head["op"].devices["cpu"].machines.clear();
  keep_unchecked_devices(base, head);
  EXPECT_TRUE(head["op"].devices["cpu"].machines.empty()) << "where something was checked, that counts";
}

TEST(UncheckedDevices, KeepKernelsOfABuildWithCuda) {
  State base{{"op", some_subject()}, {"other", some_subject()}};
  base["op"].facts.kernels = {"CPU", "CUDA", "AutocastCUDA"};
  State head{{"op", some_subject()}, {"other", some_subject()}};
  EXPECT_EQ(keep_unchecked_devices(base, head), (KeptKernels{{c10::kCUDA, 2}}));
  EXPECT_THAT(head["op"].facts.kernels, ElementsAre("CPU", "CUDA", "AutocastCUDA"));
  base["op"].facts.kernels = {"CPU", "CUDA", "Meta"};
  head = {{"op", some_subject()}, {"other", some_subject()}};
  head["op"].facts.kernels = {"CPU", "Meta"};
  EXPECT_EQ(keep_unchecked_devices(base, head), (KeptKernels{{c10::kCUDA, 1}}));
  EXPECT_EQ(head["op"].facts.kernels, base["op"].facts.kernels)
      << "an accepted state does not change for its order";
  head = {{"op", some_subject()}, {"other", some_subject()}};
  head["other"].facts.kernels = {"CPU", "CUDA"};
  EXPECT_EQ(keep_unchecked_devices(base, head), KeptKernels())
      << "this build has CUDA, and `op` has lost its kernels";
  EXPECT_THAT(head["op"].facts.kernels, ElementsAre("CPU"));
}

TEST(UncheckedDevices, KeepKernelsThatPythonRegistersWhereThereIsAGpu) {
  State base{{"op", some_subject()}}, head = base;
  base["op"].facts.python_kernels = {"CUDA", "Meta"};
  head["op"].facts.python_kernels = {};
  EXPECT_EQ(keep_unchecked_devices(base, head), (KeptKernels{{c10::kCUDA, 1}}));
  EXPECT_THAT(head["op"].facts.python_kernels, ElementsAre("CUDA")) << "and Meta is gone";
  EXPECT_EQ(keep_unchecked_devices(base, head), KeptKernels()) << "none is missing";
  head["op"].facts.python_kernels = {};
  head["other"].devices["cuda"] = some_subject().devices["cpu"];
  EXPECT_EQ(keep_unchecked_devices(base, head), KeptKernels()) << "a case ran on a GPU here";
  EXPECT_TRUE(head["op"].facts.python_kernels.empty());
}

TEST(OtherMachines, AreKeptWhileTheResultsHereAreTheSame) {
  const State base{{"op", some_subject()}};
  constexpr auto kOther = "torch 2.15.0, AVX512";
  State head = base;
  MachineResults& mine = head["op"].devices["cpu"].machines[kOther] =
      head["op"].devices["cpu"].machines.extract(kMachine).mapped();
  keep_other_machines(base, kOther, head);
  EXPECT_TRUE(head["op"].devices["cpu"].machines.contains(kMachine)) << "measured for the first time here";
  const State both = head;
  mine.bits["4x8"]["float32"] = "fedcba9876543210";
  head["op"].devices["cpu"].machines.erase(kMachine);
  keep_other_machines(both, kOther, head);
  EXPECT_FALSE(head["op"].devices["cpu"].machines.contains(kMachine)) << "the operator has other bits now";
}

}  // namespace
}  // namespace opgate::ledger_test
