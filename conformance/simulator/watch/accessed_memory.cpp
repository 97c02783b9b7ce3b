#include "simulator/watch/accessed_memory.h"

#include "simulator/watch/places.h"

namespace opgate::simulator {

void AccessedMemory::start(const Program& program) {
  program_ = &program;
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
}

AccessedMemory::Page& AccessedMemory::page_of(std::uint64_t number) {
  if (last_number_ != number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    last_ = page.get();
    last_number_ = number;
  }
  return *last_;
}

void AccessedMemory::add(std::uint64_t address, std::size_t bytes, bool writes, bool is_strong,
                         std::uint32_t site) {
  Page& page = page_of(address / kPage);
  const std::uint64_t at = address % kPage;
  const std::uint64_t bits = ((std::uint64_t{1} << bytes) - 1) << (at % 64);
  page.accessed[at / 64] |= bits;
  if (writes) page.written[at / 64] |= bits;
  if (!is_strong) page.weak[at / 64] |= bits;
  for (std::uint64_t slot = at / kSlot; slot <= (at + bytes - 1) / kSlot; ++slot) {
    if (writes || page.sites[slot] == 0) page.sites[slot] = site;
  }
}

void AccessedMemory::add_bytes(std::vector<AccessedRange>& ranges, std::uint64_t address, std::size_t bytes,
                               const Page& page) const {
  const std::uint64_t at = address % kPage;
  const auto is_in = [at](const auto& bits) { return (bits[at / 64] >> (at % 64) & 1) != 0; };
  const bool is_written = is_in(page.written);
  const bool is_strong = !is_in(page.weak);
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
  for (const auto& [number, page] : pages_) {
    for (std::uint64_t word = 0; word < page->accessed.size(); ++word) {
      const std::uint64_t accessed = page->accessed[word];
      const std::uint64_t begin = number * kPage + word * 64;
      if (~accessed == 0 && is_same_in_all(page->written[word]) && is_same_in_all(page->weak[word])) {
        add_bytes(ranges, begin, 64, *page);
        continue;
      }
      for (unsigned bit = 0; accessed != 0 && bit < 64; ++bit) {
        if ((accessed >> bit & 1) != 0) add_bytes(ranges, begin + bit, 1, *page);
      }
    }
  }
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
  return ranges;
}

}  // namespace opgate::simulator
