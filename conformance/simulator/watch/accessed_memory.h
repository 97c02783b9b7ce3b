// Which bytes of global memory a launch has read and written, and where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
  void add(std::uint64_t address, std::size_t bytes, bool writes, bool is_strong, std::uint32_t site);

  /// All that the launch has accessed, in the order of addresses. Forgets it.
  std::vector<AccessedRange> take();

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kSlot = 16;  ///< bytes that share a site

  struct Page {
    std::array<std::uint64_t, kPage / 64> accessed{};  ///< a bit for each byte
    std::array<std::uint64_t, kPage / 64> written{};
    std::array<std::uint64_t, kPage / 64> weak{};
    std::array<std::uint32_t, kPage / kSlot>
        sites{};  ///< of the last write, or of a read where there was none
  };

  Page& page_of(std::uint64_t number);
  void add_bytes(std::vector<AccessedRange>& ranges, std::uint64_t address, std::size_t bytes,
                 const Page& page) const;

  const Program* program_ = nullptr;
  std::map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
};

}  // namespace opgate::simulator
