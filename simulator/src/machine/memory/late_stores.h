// Stores to global memory that other blocks see late, as the memory consistency model of PTX allows.
//
// Blocks run in turns, one at a time. While a block runs, memory holds its own view, so that all its threads
// load what it has stored, and in the order in which it was stored. When its turn is over, what it has stored
// late is taken out of memory, and it is put back for its next turn. Whatever must be visible to others stays
// in memory from then on, for all of them at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <unordered_map>

namespace opgate::simulator {

class LateStores {
 public:
  /// `seed`: of how late each store is, which differs from launch to launch.
  LateStores(std::uint64_t seed, std::uint64_t launch);
  /// The launch has ended: all stores are visible.
  ~LateStores();
  LateStores(const LateStores&) = delete;
  LateStores& operator=(const LateStores&) = delete;

  /// From now on the block of this number runs.
  void begin_turn(std::uint32_t block);
  /// Its threads have run long, so that they may be waiting for a store of another block.
  void let_time_pass();
  /// It stops.
  void end_turn();

  /// The block that runs is about to store so many bytes, which become visible together. `to` is where the
  /// host stores them. `is_strong`: others may wait for it, so that it is not late for long.
  void store(unsigned char* to, std::size_t bytes, bool is_strong);

  /// What the block that runs has stored so far becomes visible.
  void make_visible();
  /// What it has stored there becomes visible.
  void make_visible(unsigned char* at, std::size_t bytes) { make_visible(block_, at, bytes); }

 private:
  static constexpr std::size_t kMostBytes = 32;  ///< of a vector

  // Two of one block do not overlap: stores are aligned to their size, and the smaller one becomes a part of
  // the larger one.
  struct Late {
    std::array<unsigned char, kMostBytes>
        hidden;  ///< what memory does not hold now: of the block or of others
    std::uint8_t bytes = 0;
    std::uint64_t due = 0;
    bool is_of_this_turn = true;
  };
  struct Buffer {
    std::map<std::uintptr_t, Late> stores;  ///< by where they are
    std::uint64_t next_due = 0;             ///< not later than that of any of them
  };

  static void exchange_views(Buffer& buffer);
  std::uint64_t draw_delay(bool is_strong);
  void begin_delays(Buffer& buffer);
  bool is_any_owned(const unsigned char* at, std::size_t bytes) const;
  void settle_due();
  void make_visible(std::uint32_t block, unsigned char* at, std::size_t bytes);
  void make_visible_of_others(unsigned char* at, std::size_t bytes);
  void forget_words_of(const Buffer& buffer, std::uintptr_t begin, std::size_t bytes);

  std::mt19937_64 random_;
  std::uint64_t now_ = 0;
  std::uint64_t turn_began_ = 0;
  std::map<std::uint32_t, Buffer> buffers_;  ///< of blocks
  std::uint32_t block_ = 0;                  ///< that runs
  Buffer* running_ = nullptr;
  std::unordered_map<std::uintptr_t, std::uint32_t> owners_;  ///< which block has stored late to a word
};

}  // namespace opgate::simulator
