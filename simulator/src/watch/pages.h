// Pages of a memory by their numbers, for tools that look one up at each access.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace opgate::simulator {

/// Pages come to be when they are first looked up, and stay where they are.
template <class Page>
class Pages {
 public:
  Pages() { forget_latest(); }

  Page& at(std::uint64_t number) {
    const auto& [latest, page] = latest_[number % latest_.size()];
    return latest == number ? *page : look_up(number);
  }

  void clear() {
    pages_.clear();
    forget_latest();
  }

  /// In the order of their numbers.
  std::vector<std::pair<std::uint64_t, const Page*>> all() const {
    std::vector<std::pair<std::uint64_t, const Page*>> pages;
    for (const auto& [number, page] : pages_) pages.emplace_back(number, page.get());
    std::sort(pages.begin(), pages.end());
    return pages;
  }

 private:
  Page& look_up(std::uint64_t number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    latest_[number % latest_.size()] = {number, page.get()};
    return *page;
  }

  void forget_latest() { latest_.fill({~std::uint64_t{0}, nullptr}); }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<std::pair<std::uint64_t, Page*>, 256> latest_;
};

}  // namespace opgate::simulator
