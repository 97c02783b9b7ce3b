// The accepted state as text: what is read equals what was written, whatever the names are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/ledger.h"
#include "gate/partial.h"
#include "support.h"

namespace opgate::ledger_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::text_of;

SubjectState some_subject() {
  DeviceState cpu;
  cpu.cases = {{"value.layout", {{"float32", 18}, {"float64", 3}}}};
  cpu.owed = {{"value.layout", {{"float64", 3}}}};
  cpu.worst = {{"value.reference", {{"float32", 0.5}}}};
  cpu.bits = {{"4x8", {{"float32", "0123456789abcdef"}}}};
  cpu.outputs = {
      {"a \"quoted\" = [sample]", {{"contiguous", "[4] strides (1)"}, {"x=stepped, float64", "raises"}}}};
  return {{"my::op(Tensor x) -> Tensor", {"CPU"}, {"deterministic"}, 4, ""},
          {{"cpu", cpu}},
          "torch 2.15.0, AVX2"};
}

// The place of a spec is not compared, because the ledger does not keep it.
void expect_same(const SubjectState& read, const SubjectState& written) {
  EXPECT_EQ(read.facts.schema, written.facts.schema);
  EXPECT_EQ(read.facts.kernels, written.facts.kernels);
  EXPECT_EQ(read.facts.promises, written.facts.promises);
  EXPECT_EQ(read.facts.ulps, written.facts.ulps);
  EXPECT_EQ(read.measured, written.measured);
  EXPECT_EQ(read.devices, written.devices);
}

TEST(Ledger, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const State state{{"op", some_subject()}, {"other::op.out", some_subject()}};
  write_ledger(folder / "ledger", state, false);
  const State read = read_ledger(folder / "ledger");
  ASSERT_EQ(read.size(), 2u);
  for (const auto& [id, subject] : state) expect_same(read.at(id), subject);
}

TEST(Ledger, WritesOnlyWhatChangedAndRemovesWhatIsGone) {
  const TemporaryFolder folder;
  State state{{"a", some_subject()}, {"b", some_subject()}, {"c", some_subject()}};
  EXPECT_THAT(write_ledger(folder / "ledger", state, false).added, ElementsAre("a", "b", "c"));
  state.erase("a");
  state["b"].facts.ulps = 8;
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

TEST(UncheckedDevices, KeepWhatAnotherMachineSaw) {
  State base{{"op", some_subject()}}, head = base;
  head["op"].devices["cuda"] = base["op"].devices["cuda"] = some_subject().devices["cpu"];
  DeviceState& here = head["op"].devices["cuda"];
  here.owed = here.cases;
  here.worst.clear();
  here.bits.clear();
  here.outputs.clear();
  keep_unchecked_devices(base, head);
  EXPECT_EQ(here.bits, base["op"].devices["cuda"].bits);
  EXPECT_EQ(here.owed, here.cases) << "and are owed all the same";
  head["op"].devices["cpu"].bits.clear();
  keep_unchecked_devices(base, head);
  EXPECT_TRUE(head["op"].devices["cpu"].bits.empty()) << "where something was checked, that counts";
}

}  // namespace
}  // namespace opgate::ledger_test
