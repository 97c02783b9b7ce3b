// Copies of boxes of tensors by maps, and what the tools find where nothing waits for them.
#include <numeric>

#include "both_ways.h"
#include "machine/memory/tensor_map.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace tensor_copy_test {

constexpr std::uint32_t kRows = 10;
constexpr std::uint32_t kColumns = 40;

// A tensor of 10 rows of 40 numbers of 32 bits, and boxes of 8 rows of 32.
TensorMap map_of(std::uint64_t address, std::uint8_t row_bytes) {
  TensorMap map;
  map.address = address;
  map.strides = {0, kColumns * 4};
  map.sizes = {kColumns, kRows};
  map.box = {32, 8};
  map.steps = {1, 1};
  map.rank = 2;
  map.type = Type::u32;
  map.row_bytes = row_bytes;
  map.mark = TensorMap::kMark;
  return map;
}

std::uint64_t put(FakeDevice& device, const TensorMap& map) {
  std::vector<unsigned char> bytes(TensorMap::kBytes);
  std::memcpy(bytes.data(), &map, sizeof(map));
  return device.allocate(bytes);
}

std::vector<std::uint32_t> numbers() {
  std::vector<std::uint32_t> all(kRows * kColumns);
  std::iota(all.begin(), all.end(), 1u);
  return all;
}

// One thread copies the box at (x, y) to shared memory, all threads of a warp copy that to `out`, and one
// copies the shared memory to the box at (4, 1) of the other tensor.
std::string kernel(const std::string& at, const std::string& wait,
                   const std::string& fence = "fence.proxy.async;") {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 from, .param .u64 to, .param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .shared .align 1024 .b8 box[1024]; .shared "
         ".b64 done;\n"
         "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u64 %rd3, [out]; mov.u32 %r1, "
         "%tid.x;\n"
         "setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 4; mov.u32 %r3, 1; mov.u32 %r10, box; mov.u32 %r11, done;\n"
         "@%p1 mbarrier.init.shared::cta.b64 [%r11], 1; bar.sync 0;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 1024;\n"
         "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r10], [%rd1, "
         "{" +
         at + "}], [%r11];\n" + wait +
         "shl.b32 %r4, %r1, 2; add.u32 %r5, %r10, %r4; cvt.u64.u32 %rd4, %r4; add.u64 %rd5, %rd3, "
         "%rd4;\nmov.u32 %r6, 0;\n"
         "copy: ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd5], %r7; st.shared.u32 [%r5], %r7;\n"
         "add.u32 %r5, %r5, 128; add.u64 %rd5, %rd5, 128; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8; @%p3 "
         "bra copy;\n" +
         fence +
         "\nbar.sync 0;\n@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r2, %r3}], "
         "[%r10];\n"
         "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n";
}

const std::string kWait = "look: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], 0;\n@!%p2 bra look;\n";

Ran ran_of(const std::string& ptx, std::uint8_t row_bytes, const TensorMap& from_map,
           const std::vector<std::uint32_t>& given) {
  return run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    TensorMap from = from_map;
    from.address = device.allocate(given);
    results = {device.allocate(std::vector<std::uint32_t>(256)),
               device.allocate(std::vector<std::uint32_t>(kRows * kColumns))};
    return launch_of("k", {}, {32},
                     Arguments(put(device, from), put(device, map_of(results[1], row_bytes)), results[0]));
  });
}

Ran ran_of(const std::string& ptx, std::uint8_t row_bytes) {
  return ran_of(ptx, row_bytes, map_of(0, row_bytes), numbers());
}

Ran ran_with(std::uint8_t row_bytes, const std::string& at) { return ran_of(kernel(at, kWait), row_bytes); }

std::uint32_t word(const Ran& ran, std::size_t memory, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, &ran.memory[memory][index * 4], 4);
  return value;
}

TEST(SimulatedTensorCopies, BoxesWithinAndOutsideOfTheTensor) {
  for (const std::uint8_t row_bytes : {std::uint8_t{0}, std::uint8_t{128}}) {
    for (const auto& [x, y] : {std::pair{0, 0}, {4, 1}, {20, 6}, {-4, -2}}) {
      const Ran ran = ran_with(row_bytes, std::to_string(x) + ", " + std::to_string(y));
      expect_no_fault(ran.outcome);
      const auto of_box = [&](int row, int column) -> std::uint32_t {
        const int i = y + row;
        const int j = x + column;
        const bool is_inside = i >= 0 && j >= 0 && i < int{kRows} && j < int{kColumns};
        return is_inside ? static_cast<std::uint32_t>(i * int{kColumns} + j + 1) : 0;
      };
      for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 32; ++column) {
          // Units of four numbers change places by the number of their row.
          const int unit = row_bytes == 0 ? column / 4 : (column / 4) ^ row;
          EXPECT_EQ(word(ran, 0, static_cast<std::size_t>(row * 32 + unit * 4 + column % 4)),
                    of_box(row, column));
          EXPECT_EQ(word(ran, 1, static_cast<std::size_t>((row + 1) * int{kColumns} + column + 4)),
                    of_box(row, column));
        }
      }
      EXPECT_EQ(word(ran, 1, 0), 0u);
    }
  }
}

// The cluster has one block.
TEST(SimulatedTensorCopies, ForTheBlocksOfAMask) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string for_blocks =
      replaced(replaced(kernel("4, 1", kWait), "shared::cta.global.tile.mbarrier::complete_tx::bytes",
                        "shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"),
               "4, 1}], [%r11];", "4, 1}], [%r11], 1;");
  const Ran ran = ran_of(for_blocks, 128);
  expect_no_fault(ran.outcome);
  EXPECT_EQ(ran.memory, ran_with(128, "4, 1").memory);
}

// The NaN and the subnormal number are from an H200. It rounds to the nearest number; no card was asked of
// those in the middle yet, the last two, and of one that becomes infinite.
TEST(SimulatedTensorCopies, RoundNumbersToTf32) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> rounded{
      {0x7fb2e416, 0x7fffe000}, {0x00326597, 0x00326000}, {0x3f800fff, 0x3f800000}, {0xbf801001, 0xbf802000},
      {0x7f7fffff, 0x7f800000}, {0x3f801000, 0x3f800000}, {0x3f803000, 0x3f804000}};
  std::vector<std::uint32_t> given = numbers();
  for (std::size_t i = 0; i < rounded.size(); ++i) given[i] = rounded[i].first;
  TensorMap map = map_of(0, 0);
  map.type = Type::tf32;
  const Ran ran = ran_of(kernel("0, 0", kWait), 0, map, given);
  expect_no_fault(ran.outcome);
  for (std::size_t i = 0; i < rounded.size(); ++i) EXPECT_EQ(word(ran, 0, i), rounded[i].second);
  map.type = Type::f32;
  map.flushes = true;
  const Ran flushing = ran_of(kernel("0, 0", kWait), 0, map, given);
  for (std::size_t i = 0; i < rounded.size(); ++i) EXPECT_EQ(word(flushing, 0, i), rounded[i].first);
}

TEST(SimulatedTensorCopies, FillWithNaN) {
  for (const Type type : {Type::f32, Type::tf32}) {
    TensorMap map = map_of(0, 0);
    map.type = type;
    map.fills_with_nan = true;
    const Ran ran = ran_of(kernel("-4, 0", kWait), 0, map, std::vector<std::uint32_t>(kRows * kColumns));
    expect_no_fault(ran.outcome);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(word(ran, 0, i), 0x7ff77ff7u);
    EXPECT_EQ(word(ran, 0, 4), 0u);
  }
}

void expect_fault_of(const std::string& ptx, const TensorMap& map, Fault fault, const std::string& text) {
  FakeDevice device;
  TensorMap same = map;
  same.address = device.allocate(numbers());
  const std::uint64_t at = put(device, same);
  const Outcome outcome = run(device, ptx, {}, {32}, Arguments(at, at, device.allocate(numbers())));
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault));
  EXPECT_NE(outcome.message.find(text), std::string::npos) << outcome.message;
}

std::string storing_at(const std::string& x, const std::string& y) {
  std::string text = kernel("0, 0", kWait);
  text.replace(text.find("mov.u32 %r2, 4; mov.u32 %r3, 1"), 30, "mov.u32 %r2, " + x + "; mov.u32 %r3, " + y);
  return text;
}

// As on an H200, whose loads may begin there.
TEST(SimulatedTensorCopies, StoresBeginInTheTensorsRows) {
  expect_fault_of(storing_at("-4", "-1"), map_of(0, 0), Fault::illegal_instruction,
                  "to coordinate -4 of dimension 0");
  expect_fault_of(storing_at("40", "-1"), map_of(0, 0), Fault::none, "");
}

TEST(SimulatedTensorCopies, StoresOfTypesThatNoCardHasShown) {
  TensorMap map = map_of(0, 0);
  map.type = Type::tf32;
  expect_fault_of(storing_at("4", "1"), map, Fault::unsupported, ".tf32 or .ftz");
  map.type = Type::f32;
  map.flushes = true;
  expect_fault_of(storing_at("4", "1"), map, Fault::unsupported, ".tf32 or .ftz");
}

// The pixels of a row of 40 channels, whose boundary is that of the tensor.
TEST(SimulatedTensorCopies, PixelsOfIm2col) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  TensorMap map = map_of(0, 128);
  map.rank = 3;
  map.sizes = {kColumns, kRows, 1};
  map.strides = {0, kColumns * 4, kColumns * kRows * 4};
  map.box = {32};
  map.steps = {1, 1, 1};
  map.pixels = 8;
  const std::string tile = ".tensor.2d.shared::cta.global.tile.";
  std::string im2col = replaced(kernel("4, 1, 0", kWait), tile, ".tensor.3d.shared::cta.global.im2col.");
  im2col = replaced(im2col, "0}], [%r11];", "0}], [%r11], {1};");
  const Ran ran = ran_of(im2col, 128, map, numbers());
  expect_no_fault(ran.outcome);
  EXPECT_EQ(ran.memory, ran_with(128, "4, 2").memory);
  expect_fault_of(im2col, map_of(0, 128), Fault::trap, "of 2 dimensions");
  map.pixels = 0;
  expect_fault_of(im2col, map, Fault::trap, "that is not for im2col");
}

TEST(SimulatedTensorCopies, NeedAMap) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4096));
  const Outcome outcome = run(device, kernel("0, 0", kWait), {}, {32}, Arguments(memory, memory, memory));
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::trap));
  EXPECT_NE(outcome.message.find("where there is no map of a tensor"), std::string::npos) << outcome.message;
}

std::vector<Finding> found_in(const std::string& ptx) {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    const std::uint64_t from = device.allocate(numbers());
    const std::uint64_t to = device.allocate(numbers());
    const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(256));
    const Launch launch = launch_of(
        "k", {}, {32}, Arguments(put(device, map_of(from, 128)), put(device, map_of(to, 128)), out));
    findings = findings_of_launch(device, ptx, launch, {.init = true, .race = true, .sync = true}, seed);
  }
  return findings;
}

TEST(SimulatedTensorCopies, AreWatched) {
  expect_nothing(found_in(kernel("20, 6", kWait)));
  const std::vector<Finding> found = found_in(kernel("20, 6", ""));
  expect_finding(found, Finding::Kind::race, "cp.async.bulk.tensor.2d.shared::cta.global");
  expect_finding(found, Finding::Kind::init, "ld.shared.u32 reads 4 bytes of shared memory");
  expect_finding(found_in(kernel("20, 6", kWait, "")), Finding::Kind::race, "no fence.proxy.async");
  std::string early = kernel("20, 6", kWait);
  early.replace(early.find("bar.sync 0;\n@%p1 cp.async.bulk.tensor"), 11, "");
  expect_finding(found_in(early), Finding::Kind::race,
                 "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group races with");
}

}  // namespace tensor_copy_test
}  // namespace opgate::simulator::tests
