#include "simulator/watch/written_memory.h"

#include <algorithm>
#include <iterator>

namespace opgate::simulator {

bool WrittenMemory::is_blank(std::uint64_t number) const {
  const auto next = blank_.upper_bound(number);
  return next != blank_.begin() && number < std::prev(next)->second;
}

void WrittenMemory::fill(Cached& cached, std::uint64_t number) const {
  const auto page = pages_.find(number);
  cached.number = number;
  cached.page = page == pages_.end() ? nullptr : page->second.get();
  cached.is_blank = page == pages_.end() && is_blank(number);
}

// The first bytes of a page of which nothing was written are about to be.
void WrittenMemory::begin_page(Cached& cached) {
  std::unique_ptr<Page>& page = pages_[cached.number];
  page = std::make_unique<Page>();
  page->fill(~std::uint64_t{0});
  cached.page = page.get();
  cached.is_blank = false;
}

void WrittenMemory::mark_written(std::uint64_t begin, std::size_t bytes) {
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::uint64_t number = begin / kPage;
    if (begin % kPage == 0 && end - begin >= kPage) {
      const auto known = pages_.find(number);
      if (known != pages_.end()) {
        known->second.reset();
      } else if (is_blank(number)) {
        pages_[number] = nullptr;
      }
      begin += kPage;
    } else {
      store(begin++, 1);
    }
  }
  clear_cache();
}

// Ranges that touch become one, so that one look finds whether a page is in any.
void WrittenMemory::add_blank(std::uint64_t first, std::uint64_t last) {
  auto next = blank_.upper_bound(first);
  if (next != blank_.begin() && std::prev(next)->second >= first) {
    --next;
    first = next->first;
  }
  while (next != blank_.end() && next->first <= last) {
    last = std::max(last, next->second);
    next = blank_.erase(next);
  }
  blank_[first] = last;
}

void WrittenMemory::forget(std::uint64_t begin, std::size_t bytes) {
  const std::uint64_t end = begin + bytes;
  const auto blank_byte = [&](std::uint64_t address) {
    const std::uint64_t number = address / kPage;
    const auto [page, is_new] = pages_.try_emplace(number);
    if (page->second == nullptr) {
      page->second = std::make_unique<Page>();
      if (is_new && is_blank(number)) page->second->fill(~std::uint64_t{0});
    }
    (*page->second)[address % kPage / 64] |= std::uint64_t{1} << (address % 64);
  };
  const std::uint64_t first = (begin + kPage - 1) / kPage;
  const std::uint64_t last = end / kPage;
  for (; begin < std::min(end, first * kPage); ++begin) blank_byte(begin);
  if (last > first) {
    if (last - first < pages_.size()) {
      for (std::uint64_t number = first; number < last; ++number) pages_.erase(number);
    } else {
      std::erase_if(pages_, [&](const auto& page) { return page.first >= first && page.first < last; });
    }
    add_blank(first, last);
    begin = last * kPage;
  }
  for (; begin < end; ++begin) blank_byte(begin);
  clear_cache();
}

}  // namespace opgate::simulator
