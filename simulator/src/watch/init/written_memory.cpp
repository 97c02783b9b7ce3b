#include "watch/init/written_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

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

void WrittenMemory::Page::blank() {
  unwritten.fill(~std::uint64_t{0});
  loads.reset();
}

// The first bytes of a page of which all or nothing was written are about to change.
void WrittenMemory::begin_page(Cached& cached) {
  std::unique_ptr<Page>& page = pages_[cached.number];
  page = std::make_unique<Page>();
  if (cached.is_blank) page->blank();
  cached.page = page.get();
  cached.is_blank = false;
}

void WrittenMemory::store_unwritten(std::uint64_t address, const Unwritten& bytes) {
  Cached& cached = look_up(address / kPage);
  if (cached.page == nullptr) begin_page(cached);
  Page& page = *cached.page;
  if (page.loads == nullptr) page.loads = std::make_unique<std::array<std::uint32_t, kPage / kGranule>>();
  for (std::uint64_t bits = bytes.bits, at = address % kPage; bits != 0; bits >>= 1, ++at) {
    if ((bits & 1) == 0) continue;
    page.unwritten[at / 64] |= std::uint64_t{1} << (at % 64);
    (*page.loads)[at / kGranule] = bytes.loads;
  }
}

// visit(page, place in it, address)
template <class Visit>
void WrittenMemory::for_each_carried_byte(std::uint64_t begin, std::size_t bytes, Visit visit) {
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::uint64_t next = std::min(end, (begin / kPage + 1) * kPage);
    const auto known = pages_.find(begin / kPage);
    if (known != pages_.end() && known->second != nullptr && known->second->loads != nullptr) {
      Page& page = *known->second;
      for (std::uint64_t at = begin; at < next; ++at) {
        if (page.is_unwritten(at % kPage) && (*page.loads)[at % kPage / kGranule] != 0)
          visit(page, at % kPage, at);
      }
    }
    begin = next;
  }
}

void WrittenMemory::copy_unwritten(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> carried;
  for_each_carried_byte(from, bytes, [&](const Page& page, std::uint64_t at, std::uint64_t address) {
    carried.emplace_back(to + (address - from), (*page.loads)[at / kGranule]);
  });
  for (const auto& [address, loads] : carried) store_unwritten(address, {1, loads});
}

void WrittenMemory::for_each_carried(std::uint64_t begin, std::size_t bytes,
                                     const std::function<void(std::uint32_t)>& visit) {
  std::uint32_t last = 0;
  for_each_carried_byte(begin, bytes, [&](const Page& page, std::uint64_t at, std::uint64_t) {
    const std::uint32_t loads = (*page.loads)[at / kGranule];
    if (std::exchange(last, loads) != loads) visit(loads);
  });
}

void WrittenMemory::mark_unread_written(std::uint64_t begin, std::size_t bytes) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> carried;
  for_each_carried_byte(begin, bytes, [&](const Page& page, std::uint64_t at, std::uint64_t address) {
    carried.emplace_back(address, (*page.loads)[at / kGranule]);
  });
  mark_written(begin, bytes);
  for (const auto& [address, loads] : carried) store_unwritten(address, {1, loads});
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
      if (is_new && is_blank(number)) page->second->blank();
    }
    Page& of_byte = *page->second;
    of_byte.unwritten[address % kPage / 64] |= std::uint64_t{1} << (address % 64);
    if (of_byte.loads != nullptr) (*of_byte.loads)[address % kPage / kGranule] = 0;
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
