// Which bytes of a small memory were written: the shared memory of a block, or the local memory of a thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opgate::simulator {

class WrittenBits {
 public:
  /// Of so many bytes, none of which is written.
  void start(std::size_t bytes) { words_.assign((bytes + 63) / 64, 0); }

  /// Bit i is set where nobody has written byte i. At most 32 bytes, at a multiple of their number. What lies
  /// outside counts as written.
  std::uint32_t unwritten(std::uint64_t address, std::size_t bytes) const {
    if (address / 64 >= words_.size()) return 0;
    return static_cast<std::uint32_t>(~words_[address / 64] >> (address % 64)) &
           static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  }

  /// The same alignment as for `unwritten`.
  void store(std::uint64_t address, std::size_t bytes) {
    if (address / 64 < words_.size())
      words_[address / 64] |= ((std::uint64_t{1} << bytes) - 1) << (address % 64);
  }

  void mark(std::size_t begin, std::size_t bytes) {
    for (std::size_t at = begin; at < begin + bytes; ++at) store(at, 1);
  }

  /// The memory now ends at `end`, and nobody has written what lies behind `begin`.
  void forget(std::size_t begin, std::size_t end) {
    words_.resize(std::max(words_.size(), (end + 63) / 64), 0);
    for (std::size_t at = begin; at < end; ++at) words_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace opgate::simulator
