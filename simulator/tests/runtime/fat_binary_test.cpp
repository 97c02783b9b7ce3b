// Reading of fat binaries, and what they are compressed with.
#include "runtime/code/fat_binary.h"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_code.h"
#include "runtime/code/decompress.h"

using namespace simulated;
using opgate::simulator::FatBinary;
using opgate::simulator::FatEntryHeader;

TEST(FatBinary, PtxOfALaterArchitectureIsNotTaken) {
  const auto data = fat_binary(".target sm_90\n", 90);
  EXPECT_EQ(FatBinary(data.data()).ptx_for(90), ".target sm_90\n");
  EXPECT_EQ(FatBinary(data.data()).ptx_for(120), ".target sm_90\n");
  EXPECT_EQ(FatBinary(data.data()).ptx_for(80), "");
}

TEST(FatBinary, PtxForOneArchitectureIsTakenThereOnly) {
  const auto data = fat_binary(".target sm_90a\n", 90);
  EXPECT_EQ(FatBinary(data.data()).ptx_for(90), ".target sm_90a\n");
  EXPECT_EQ(FatBinary(data.data()).ptx_for(120), "");
}

// Both entries in one binary.
std::vector<unsigned char> joined(std::vector<unsigned char> first,
                                  const std::vector<unsigned char>& second) {
  using opgate::simulator::FatHeader;
  FatHeader whole;
  std::memcpy(&whole, first.data(), sizeof whole);
  whole.entries_bytes += second.size() - sizeof whole;
  std::memcpy(first.data(), &whole, sizeof whole);
  first.insert(first.end(), second.begin() + sizeof whole, second.end());
  return first;
}

TEST(FatBinary, PtxOfALaterArchitectureStandsForMachineCode) {
  const auto latest = fat_binary(".target sm_120\n", 120);
  const auto published = joined(fat_binary("machine code", 80, 2), latest);
  EXPECT_EQ(FatBinary(published.data()).ptx_for(80), ".target sm_120\n");
  EXPECT_EQ(FatBinary(published.data()).ptx_for(89), ".target sm_120\n");
  EXPECT_EQ(FatBinary(published.data()).ptx_for(120), ".target sm_120\n");
  EXPECT_EQ(FatBinary(published.data()).ptx_for(90), "") << "machine code for 8.0 does not run on 9.0";
  const auto older = joined(fat_binary("machine code", 86, 2), latest);
  EXPECT_EQ(FatBinary(older.data()).ptx_for(80), "") << "machine code for 8.6 does not run on 8.0";
  const auto all =
      joined(joined(fat_binary(".target sm_100\n", 100), latest), fat_binary("machine code", 90, 2));
  EXPECT_EQ(FatBinary(all.data()).ptx_for(90), ".target sm_100\n");
  const auto for_one = joined(fat_binary(".target sm_120a\n", 120), fat_binary("machine code", 90, 2));
  EXPECT_EQ(FatBinary(for_one.data()).ptx_for(90), "") << "its instructions are those of 12.0 alone";
}

TEST(FatBinary, MachineCodeIsNamedOnly) {
  const auto data = fat_binary(
      "\x7f"
      "ELF",
      90, 2);
  EXPECT_EQ(FatBinary(data.data()).ptx_for(90), "");
  EXPECT_EQ(FatBinary(data.data()).contents(), "machine code 90");
}

TEST(FatBinary, OtherDataIsRefused) {
  auto data = fat_binary("text", 90);
  data[0] = 0;
  EXPECT_THROW(FatBinary{data.data()}, std::runtime_error);
}

TEST(FatBinary, Lz4) {
  // Four literals, a match of 8 at distance 4 that reaches into itself, and five literals at the end.
  const std::string packed(
      "\x44"
      "abcd\x04\x00\x50"
      "vwxyz",
      13);
  const auto data = fat_binary(packed, 80, 1, FatEntryHeader::kLz4, 17);
  EXPECT_EQ(FatBinary(data.data()).ptx_for(90), "abcdabcdabcdvwxyz");
  const auto cut = fat_binary(packed.substr(0, 9), 80, 1, FatEntryHeader::kLz4, 17);
  EXPECT_THROW(FatBinary(cut.data()).ptx_for(90), std::runtime_error);
}

TEST(FatBinary, Zstd) {
  using Compress = std::size_t (*)(void*, std::size_t, const void*, std::size_t, int);
  void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "libzstd.so.1 is not installed";
  const auto compress = reinterpret_cast<Compress>(dlsym(library, "ZSTD_compress"));
  const std::string text(1000, 'x');
  std::string packed(2000, '\0');
  packed.resize(compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  const auto data = fat_binary(packed, 80, 1, FatEntryHeader::kZstd, text.size());
  EXPECT_EQ(FatBinary(data.data()).ptx_for(90), text);
  const auto wrong = fat_binary("no zstd data", 80, 1, FatEntryHeader::kZstd, 20);
  EXPECT_THROW(FatBinary(wrong.data()).ptx_for(90), std::runtime_error);
}
