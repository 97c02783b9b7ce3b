// What a file of the ledger keeps once for several devices, and that each device is read back as it was
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opgate/error.h>

#include <fstream>
#include <sstream>

#include "gate/call_groups.h"
#include "gate/ledger/ledger.h"
#include "gate/ledger/ledger_reader.h"
#include "support.h"

namespace opgate::ledger_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TemporaryFolder;

constexpr auto kMachine = "torch 2.15.0, AVX2";

DeviceState some_device() {
  DeviceState device;
  device.planned.add("4x8", "contiguous",
                     {{"value.reference", {"float32", "float64"}}, {"effect.alias", {"float32"}}});
  device.planned.add("4x8", "x=stepped", {{"value.layout", {"float32"}}, {"effect.alias", {"float32"}}});
  device.planned.add("2x2", "contiguous", {{"value.reference", {"float32"}}});
  device.values = device.reference = {{"4x8", {{"float32", "32: 1 2 3 4"}, {"float64", "32: 1 2 3 5"}}}};
  device.outputs = {{"4x8", {{"contiguous", "[4] strides (1)"}, {"x=stepped", "[4] strides (2)"}}}};
  device.machines[kMachine].worst = {{"value.reference", {{"float32", 0.5}}}};
  device.machines[kMachine].bits = {{"4x8", {{"float32", "0123"}}}};
  return device;
}

SubjectState subject_on(const std::vector<std::string>& devices) {
  SubjectState subject;
  subject.facts.schema = "my::op(Tensor x) -> Tensor";
  subject.facts.kernels = {"CPU"};
  for (const std::string& device : devices) subject.devices[device] = some_device();
  return subject;
}

SubjectState read_back(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "op.toml") << text;
  return subject_of_ledger(folder / "op.toml");
}

// The text of the subject, which must be read back as it was.
std::string text_of(const SubjectState& subject) {
  std::string text = ledger_text("op", subject);
  EXPECT_EQ(read_back(text), subject) << text;
  return text;
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

size_t different_lines(const std::string& before, const std::string& after) {
  const std::set<std::string> then = lines_of(before), now = lines_of(after);
  return std::ranges::count_if(now, [&](const std::string& line) { return !then.contains(line); });
}

TEST(LedgerText, WritesWhatDevicesShareOnce) {
  const std::string one = text_of(subject_on({"cpu"}));
  const std::string three = text_of(subject_on({"cpu", "cuda", "sim"}));
  EXPECT_EQ(std::ranges::count(one, '\n'), std::ranges::count(three, '\n'));
  EXPECT_EQ(different_lines(one, three), 2u) << "which devices they are\n" << three;
}

TEST(LedgerText, NamesDevicesWhereAnOutputDiffers) {
  SubjectState subject = subject_on({"cpu", "cuda", "sim"});
  const std::string before = text_of(subject);
  subject.devices["cpu"].outputs["4x8"]["x=stepped"] = "raises";
  const std::string after = text_of(subject);
  EXPECT_THAT(after,
              HasSubstr(R"toml("x=stepped" = { cpu = "raises", "cuda sim" = "[4] strides (2)" })toml"));
  EXPECT_EQ(different_lines(before, after), 1u);
  subject.devices["cpu"].outputs["4x8"].erase("x=stepped");
  subject.devices["sim"].outputs.clear();
  EXPECT_THAT(text_of(subject), HasSubstr(R"toml("x=stepped" = { cuda = "[4] strides (2)" })toml"));
}

TEST(LedgerText, NamesDevicesWhereResultsOfADtypeDiffer) {
  SubjectState subject = subject_on({"cpu", "sim"});
  subject.devices["sim"].values["4x8"]["float64"] = "32: 1 2 3 6";
  subject.devices["sim"].machines[kMachine].worst["value.reference"]["float32"] = 0.75;
  const std::string text = text_of(subject);
  EXPECT_THAT(text, HasSubstr("{ float32 = \"32: 1 2 3 4\", float64 = { cpu = "));
  EXPECT_THAT(text, HasSubstr("{ float32 = { cpu = 0.5, sim = 0.75 } }"));
}

TEST(LedgerText, KeepsDevicesWithoutACpu) {
  SubjectState subject = subject_on({"cuda", "sim"});
  subject.devices["cuda"].outputs["4x8"]["contiguous"] = "raises";
  EXPECT_THAT(text_of(subject), Not(HasSubstr("cpu")));
  EXPECT_THAT(text_of(subject_on({})), HasSubstr("devices = []"));
}

TEST(LedgerText, KeepsADeviceThatNoMachineHasChecked) {
  SubjectState subject = subject_on({"cpu", "sim"});
  DeviceState& cuda = subject.devices["cuda"];
  cuda.planned = some_device().planned;
  cuda.owed = cuda.planned.count();
  EXPECT_THAT(text_of(subject), HasSubstr("cuda = \"everything\"\n"));
  subject.devices["sim"].owed = {{"value.layout", {{"float32", 1}}}};
  EXPECT_THAT(text_of(subject), HasSubstr("[owed.sim]\n\"value.layout\" = { float32 = 1 }\n"));
  subject.devices["nothing"];
  text_of(subject);
}

TEST(LedgerText, KeepsMachinesThatHadOtherDevices) {
  SubjectState subject = subject_on({"cpu", "cuda", "sim"});
  subject.devices["cuda"].machines.clear();
  MachineResults& card = subject.devices["cuda"].machines["torch 2.15.0, AVX512"];
  card.speed = {{"64x64, forward, float32", {{"ratio", 1.5}, {"low", 1.25}}}};
  subject.devices["sim"].machines["torch 2.14.0, AVX2"];
  const std::string text = text_of(subject);
  EXPECT_THAT(text, HasSubstr("[results.machines.\"torch 2.15.0, AVX2\"]\ndevices = [\"cpu\", \"sim\"]\n"));
  EXPECT_THAT(text, HasSubstr("[results.machines.\"torch 2.15.0, AVX512\"]\ndevices = [\"cuda\"]\n"));
}

TEST(LedgerText, KeepsCallsThatOneDeviceLacks) {
  SubjectState subject = subject_on({"cpu", "cuda"});
  subject.devices["cuda"].planned.add("4x8", "bad:x.device=cpu", {{"error.raises", {"float32"}}});
  subject.devices["cpu"].planned.add("only here", "contiguous", {{"value.reference", {"float32"}}});
  subject.devices["cuda"].planned.add("4x8", "x=stepped", {{"run.stream", {"float64"}}});
  const std::string text = text_of(subject);
  EXPECT_THAT(text, HasSubstr(R"toml("run.stream" = { cuda = { "float64" = ["x=stepped"] } })toml"));
}

TEST(LedgerText, KeepsCallsWithoutAnyCheck) {
  SubjectState subject = subject_on({"cpu", "cuda"});
  subject.devices["cpu"].planned.add("4x8", "x=offset", {});
  subject.devices["cpu"].planned.add("4x8", "x=expanded", {});
  subject.devices["cuda"].planned.add("4x8", "x=offset", {{"value.layout", {"float32"}}});
  text_of(subject);
}

TEST(LedgerText, ANewCheckIsOneLine) {
  SubjectState subject = subject_on({"cpu", "cuda", "sim"});
  const std::string before = text_of(subject);
  for (auto& [name, device] : subject.devices) {
    for (const std::string& sample : device.planned.samples())
      device.planned.add(sample, "contiguous", {{"value.new", {"float32"}}});
  }
  EXPECT_EQ(different_lines(before, text_of(subject)), 1u);
}

TEST(LedgerText, NamesGroupsByTheirFirstVariant) {
  SubjectState subject = subject_on({"cpu"});
  std::vector<CallGroup> groups = call_groups(subject.devices);
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(groups[0].name, "contiguous") << "the one with the most checks";
  EXPECT_EQ(groups[1].name, "contiguous 2");
  EXPECT_EQ(groups[2].name, "x=stepped");
  EXPECT_TRUE(groups[1].variants.contains("2x2"));
  // A call may be named as a group would be.
  subject.devices["cpu"].planned.add("4x8", "contiguous 2", {{"value.layout", {"float64"}}});
  EXPECT_THAT(call_groups(subject.devices), SizeIs(4));
  text_of(subject);
}

std::string refusal_of(const std::string& lines) {
  try {
    read_back("schema = \"a::b() -> ()\"\nkernels = []\n" + lines);
  } catch (const SetupError& error) {
    return error.what();
  }
  return "";
}

TEST(LedgerText, RefusesWhatNoLedgerHas) {
  const std::string planned = "[planned]\ndevices = [\"cpu\"]\n";
  EXPECT_EQ(refusal_of(planned), "");
  EXPECT_THAT(refusal_of("[planned]\n"), HasSubstr("op.toml:3: this is no line of a ledger"));
  EXPECT_THAT(refusal_of(planned + "[cuda]\n"), HasSubstr("op.toml:5"));
  EXPECT_THAT(refusal_of(planned + "[owed]\ncuda = \"everything\"\n"), HasSubstr("op.toml:6"));
  EXPECT_THAT(refusal_of(planned + "[planned.calls.\"4x8\"]\ncontiguous = [\"contiguous\"]\n"),
              HasSubstr("op.toml:6"))
      << "a group without checks";
  EXPECT_THAT(refusal_of(planned + "[planned.checks]\nopcheck = { cuda = { float32 = [\"contiguous\"] } }\n"),
              HasSubstr("op.toml:6"));
  EXPECT_THAT(refusal_of(planned + "[results]\ndevices = [\"sim\"]\n"), HasSubstr("op.toml:6"));
  EXPECT_THAT(refusal_of(planned + "[results.machines.here]\nworst = {}\n"), HasSubstr("op.toml:5"));
  EXPECT_THAT(refusal_of(planned + "[results.outputs.\"4x8\"]\ncontiguous = { sim = \"raises\" }\n"),
              HasSubstr("op.toml:6"));
}

}  // namespace
}  // namespace opgate::ledger_text_test
