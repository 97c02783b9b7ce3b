// Which bytes of global memory a launch has read and written, and where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "watch/pages.h"

namespace opgate::simulator {

struct Program;

/// Bytes that lie side by side and were all accessed in the same way.
struct AccessedRange {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  bool is_written = false;  ///< otherwise only read
  bool is_strong = false;   ///< only by atomic, volatile or relaxed accesses that reach beyond the block
  std::string instruction;  ///< one that has accessed the first bytes
  std::string location;     ///< of it: "file:line" where the PTX has `.loc`, else "line N of the PTX"
};

class AccessedMemory {
 public:
  void start(const Program& program);

  /// At most 32 bytes, at a multiple of their number. `site` numbers the instructions of the program.
  void add(std::uint64_t address, std::size_t bytes, bool writes, bool is_strong, std::uint32_t site) {
    Page& page = pages_.at(address / kPage);
    const std::uint64_t at = address % kPage;
    const std::uint64_t bits = ((std::uint64_t{1} << bytes) - 1) << (at % 64);
    Word& word = page.words[at / 64];
    // Most accesses tell nothing new. Those that write say by which instruction it was done last.
    if (!writes && (word.accessed & bits) == bits && (is_strong || (word.weak & bits) == bits)) return;
    word.accessed |= bits;
    if (writes) word.written |= bits;
    if (!is_strong) word.weak |= bits;
    for (std::uint64_t slot = at / kSlot; slot <= (at + bytes - 1) / kSlot; ++slot) {
      if (writes || page.sites[slot] == 0) page.sites[slot] = site;
    }
  }

  /// All that the launch has accessed, in the order of addresses. Forgets it.
  std::vector<AccessedRange> take();

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kSlot = 16;  ///< bytes that share a site

  /// A bit for each of 64 bytes.
  struct Word {
    std::uint64_t accessed = 0;
    std::uint64_t written = 0;
    std::uint64_t weak = 0;
  };

  struct Page {
    std::array<Word, kPage / 64> words{};
    std::array<std::uint32_t, kPage / kSlot>
        sites{};  ///< of the last write, or of a read where there was none
  };

  void add_bytes(std::vector<AccessedRange>& ranges, std::uint64_t address, std::size_t bytes,
                 const Page& page) const;

  const Program* program_ = nullptr;
  Pages<Page> pages_;
};

}  // namespace opgate::simulator
