// The tool `traffic`: sectors of global memory, and bank conflicts in shared memory.
#include <sstream>

#include "watched.h"

namespace opgate::simulator::tests {
namespace traffic_test {

struct Row {
  std::uint64_t sectors = 0;
  std::uint64_t enough = 0;
  std::uint64_t passes = 0;
  std::string line;

  bool operator==(const Row&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.sectors << ' ' << row.enough << ' ' << row.passes << ' ' << row.line;
}

// The notes about a launch of the kernel, without the heading and the names of the columns.
std::vector<Row> rows_of(const std::string& body, Extent block, const std::string& before = "") {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4096));
  const std::unique_ptr<Module> module = Module::parse(kernel_of(body, before));
  Observer observer({.traffic = true});
  Launch launch = launch_of("k", {1}, block, Arguments(memory));
  launch.observer = &observer;
  expect_no_fault(module->run(launch, device));
  expect_nothing(observer.take_findings());
  const std::vector<std::string> notes = observer.take_notes();
  std::vector<Row> rows;
  for (std::size_t i = 2; i < notes.size(); ++i) {
    Row row;
    std::istringstream note(notes[i]);
    note >> row.sectors >> row.enough >> row.passes >> std::ws;
    std::getline(note, row.line);
    rows.push_back(row);
  }
  return rows;
}

// The only line that loads or stores, with each thread at a multiple of so many bytes.
Row row_of(const std::string& access, const std::string& stride, Extent block = {32}) {
  const std::string address = "mul.wide.u32 %rd2, %r1, " + stride +
                              "; add.u64 %rd3, %rd1, %rd2; mov.u64 %rd4, tile; add.u64 %rd4, %rd4, %rd2; ";
  std::vector<Row> rows = rows_of(address + access, block, ".shared .align 16 .b8 tile[8192];");
  EXPECT_EQ(rows.size(), 1u);
  rows.resize(1);
  rows.front().line.clear();
  return rows.front();
}

TEST(SimulatedTraffic, SectorsOfGlobalMemory) {
  EXPECT_EQ(row_of("ld.global.u32 %r2, [%rd3];", "4"), (Row{4, 4, 0, ""}));
  EXPECT_EQ(row_of("ld.global.u32 %r2, [%rd3];", "128"), (Row{32, 4, 0, ""}));
  EXPECT_EQ(row_of("st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};", "16"), (Row{16, 16, 0, ""}));
  // All threads at one place, two warps, and a part of a warp.
  EXPECT_EQ(row_of("ld.global.u32 %r2, [%rd3];", "0"), (Row{1, 1, 0, ""}));
  EXPECT_EQ(row_of("ld.u32 %r2, [%rd3];", "4", {64}), (Row{8, 8, 0, ""}));
  EXPECT_EQ(row_of("setp.lt.u32 %p1, %r1, 8; @%p1 ld.global.u32 %r2, [%rd3];", "4"), (Row{1, 1, 0, ""}));
}

TEST(SimulatedTraffic, BankConflictsInSharedMemory) {
  EXPECT_EQ(row_of("st.shared.u32 [%rd4], %r1;", "4"), (Row{0, 0, 0, ""}));
  // A column of 32 x 32 numbers, and of rows that are padded to 33.
  EXPECT_EQ(row_of("st.shared.u32 [%rd4], %r1;", "128"), (Row{0, 0, 31, ""}));
  EXPECT_EQ(row_of("st.shared.u32 [%rd4], %r1;", "132"), (Row{0, 0, 0, ""}));
  EXPECT_EQ(row_of("st.shared.u32 [%rd4], %r1;", "8"), (Row{0, 0, 1, ""}));
  // One word for all is no conflict, and 16 bytes of each thread take four passes in any case.
  EXPECT_EQ(row_of("st.shared.u32 [%rd4], %r1;", "0"), (Row{0, 0, 0, ""}));
  EXPECT_EQ(row_of("st.shared.v4.u32 [%rd4], {%r1, %r1, %r1, %r1};", "16"), (Row{0, 0, 0, ""}));
}

TEST(SimulatedTraffic, EachExecutionOfALoopIsAnAccess) {
  // Twenty thousand executions by each thread: more than are kept at once.
  const std::vector<Row> rows = rows_of(
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mov.u32 %r3, 0;\n"
      "again: ld.global.u32 %r2, [%rd2]; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 20000; @%p1 bra again;",
      {64});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.front().sectors, 160000u);
  EXPECT_EQ(rows.front().enough, 160000u);
}

TEST(SimulatedTraffic, TheMostCostlyLinesComeFirst) {
  const std::vector<Row> rows = rows_of(
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\n"
      "mul.wide.u32 %rd2, %r1, 128; add.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r2;",
      {32});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].sectors, 32u);
  EXPECT_EQ(rows[1].sectors, 4u);
  EXPECT_NE(rows[0].line.find("of the PTX"), std::string::npos);
  EXPECT_TRUE(rows_of("", {32}).empty());
}

TEST(SimulatedTraffic, WatchesOnlyIfItIsNamed) {
  std::string unknown;
  EXPECT_TRUE(Tools::parse("traffic", unknown).traffic);
  EXPECT_FALSE(Tools::parse("init,race,sync,stream", unknown).traffic);
  EXPECT_EQ(unknown, "");
}

}  // namespace traffic_test
}  // namespace opgate::simulator::tests
