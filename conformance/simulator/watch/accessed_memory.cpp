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

void AccessedMemory::add(std::uint64_t address, std::size_t bytes, bool writes, std::uint32_t site) {
  Page& page = page_of(address / kPage);
  const std::uint64_t at = address % kPage;
  const std::uint64_t bits = ((std::uint64_t{1} << bytes) - 1) << (at % 64);
  page.accessed[at / 64] |= bits;
  if (writes) page.written[at / 64] |= bits;
  for (std::uint64_t slot = at / kSlot; slot <= (at + bytes - 1) / kSlot; ++slot) {
    if (writes || page.sites[slot] == 0) page.sites[slot] = site;
  }
}

std::vector<AccessedRange> AccessedMemory::take() {
  std::vector<AccessedRange> ranges;
  for (const auto& [number, page] : pages_) {
    for (std::uint64_t at = 0; at < kPage; ++at) {
      const auto is_in = [at](const auto& bits) { return (bits[at / 64] >> (at % 64) & 1) != 0; };
      if (!is_in(page->accessed)) continue;
      const bool is_written = is_in(page->written);
      const std::uint64_t address = number * kPage + at;
      if (!ranges.empty() && ranges.back().begin + ranges.back().bytes == address &&
          ranges.back().is_written == is_written) {
        ++ranges.back().bytes;
        continue;
      }
      const Instruction& instruction = instruction_at(*program_, page->sites[at / kSlot]);
      ranges.push_back({address, 1, is_written, *instruction.text, location_in(*program_, instruction)});
    }
  }
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
  return ranges;
}

}  // namespace opgate::simulator
