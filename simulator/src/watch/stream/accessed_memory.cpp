#include "watch/stream/accessed_memory.h"

#include "watch/places.h"

namespace opgate::simulator {

void AccessedMemory::start(const Program& program) {
  program_ = &program;
  pages_.clear();
}

void AccessedMemory::add_bytes(std::vector<AccessedRange>& ranges, std::uint64_t address, std::size_t bytes,
                               const Page& page) const {
  const std::uint64_t at = address % kPage;
  const Word& word = page.words[at / 64];
  const bool is_written = (word.written >> (at % 64) & 1) != 0;
  const bool is_strong = (word.weak >> (at % 64) & 1) == 0;
  if (!ranges.empty()) {
    AccessedRange& last = ranges.back();
    if (last.begin + last.bytes == address && last.is_written == is_written && last.is_strong == is_strong) {
      last.bytes += bytes;
      return;
    }
  }
  const Instruction& instruction = instruction_at(*program_, page.sites[at / kSlot]);
  ranges.push_back(
      {address, bytes, is_written, is_strong, *instruction.text, location_in(*program_, instruction)});
}

std::vector<AccessedRange> AccessedMemory::take() {
  std::vector<AccessedRange> ranges;
  const auto is_same_in_all = [](std::uint64_t bits) { return bits == 0 || ~bits == 0; };
  for (const auto& [number, page] : pages_.all()) {
    std::uint64_t begin = number * kPage;
    for (const Word& word : page->words) {
      if (~word.accessed == 0 && is_same_in_all(word.written) && is_same_in_all(word.weak)) {
        add_bytes(ranges, begin, 64, *page);
      } else {
        for (unsigned bit = 0; word.accessed != 0 && bit < 64; ++bit) {
          if ((word.accessed >> bit & 1) != 0) add_bytes(ranges, begin + bit, 1, *page);
        }
      }
      begin += 64;
    }
  }
  pages_.clear();
  return ranges;
}

}  // namespace opgate::simulator
