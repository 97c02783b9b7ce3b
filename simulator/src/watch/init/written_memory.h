// Which bytes of global memory hold what somebody has put there, and which hold what came from unwritten
// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "watch/init/unwritten_loads.h"

namespace opgate::simulator {

/// Memory that it was never told of counts as written.
class WrittenMemory {
 public:
  void mark_written(std::uint64_t begin, std::size_t bytes);

  /// The memory is new: it was never written.
  void forget(std::uint64_t begin, std::size_t bytes);

  /// Bit i is set where byte i was never written. At most 32 bytes, at a multiple of their number.
  std::uint32_t unwritten(std::uint64_t address, std::size_t bytes) {
    const Cached& cached = look_up(address / kPage);
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
    if (cached.page == nullptr) return cached.is_blank ? all : 0;
    const std::uint64_t at = address % kPage;
    return static_cast<std::uint32_t>(cached.page->unwritten[at / 64] >> (at % 64)) & all;
  }

  /// For an unwritten byte: the loads from which a kernel has stored it; 0 if none has.
  std::uint32_t loads_of(std::uint64_t address) {
    const Cached& cached = look_up(address / kPage);
    return cached.page == nullptr || cached.page->loads == nullptr
               ? 0
               : (*cached.page->loads)[address % kPage / kGranule];
  }

  /// The same as `mark_written`, for an access of a kernel.
  void store(std::uint64_t address, std::size_t bytes) {
    Cached& cached = look_up(address / kPage);
    if (cached.is_blank) begin_page(cached);
    if (cached.page == nullptr) return;
    const std::uint64_t at = address % kPage;
    cached.page->unwritten[at / 64] &= ~(((std::uint64_t{1} << bytes) - 1) << (at % 64));
  }

  /// A kernel has stored bytes of which some came from unwritten memory. The same alignment as for
  /// `unwritten`.
  void store_unwritten(std::uint64_t address, const Unwritten& bytes);

  /// Memory is copied: what came from unwritten memory does so there, too. The rest is not changed.
  void copy_unwritten(std::uint64_t to, std::uint64_t from, std::size_t bytes);

  /// Calls a function with the loads of each part of the memory that came from unwritten memory.
  void for_each_carried(std::uint64_t begin, std::size_t bytes,
                        const std::function<void(std::uint32_t loads)>& visit);

  /// The same as `mark_written`, but for bytes that came from unwritten memory.
  void mark_unread_written(std::uint64_t begin, std::size_t bytes);

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kGranule = 4;  ///< bytes that share their loads

  struct Page {
    std::array<std::uint64_t, kPage / 64> unwritten{};  ///< a bit for each byte that was never written
    /// Those of bytes that a kernel has stored; null if there are none.
    std::unique_ptr<std::array<std::uint32_t, kPage / kGranule>> loads;

    bool is_unwritten(std::uint64_t at) const { return (unwritten[at / 64] >> (at % 64) & 1) != 0; }
    void blank();
  };

  struct Cached {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;   ///< null: all of it was written, or
    bool is_blank = false;  ///< none of it
  };

  Cached& look_up(std::uint64_t number) {
    Cached& cached = cache_[number % cache_.size()];
    if (cached.number != number) fill(cached, number);
    return cached;
  }
  void fill(Cached& cached, std::uint64_t number) const;
  void begin_page(Cached& cached);
  template <class Visit>
  void for_each_carried_byte(std::uint64_t begin, std::size_t bytes, Visit visit);
  bool is_blank(std::uint64_t number) const;
  void add_blank(std::uint64_t first, std::uint64_t last);
  void clear_cache() { cache_.fill({}); }

  std::map<std::uint64_t, std::uint64_t>
      blank_;  ///< ranges of pages of which nothing was written: begin, end
  /// These are no longer as `blank_` says. Null: all of it was written.
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Cached, 64> cache_;
};

}  // namespace opgate::simulator
