// Which bytes of a small memory were written: the shared memory of a block, or the local memory of a thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "watch/init/unwritten_loads.h"

namespace opgate::simulator {

class WrittenBits {
 public:
  /// Of so many bytes, none of which is written.
  void start(std::size_t bytes) {
    words_.assign((bytes + 63) / 64, 0);
    loads_.clear();
  }

  /// Bit i is set where byte i was never written. At most 32 bytes, at a multiple of their number. What lies
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

  /// For an unwritten byte: the loads from which a kernel has stored it; 0 if none has.
  std::uint32_t loads_of(std::uint64_t address) const {
    return address / kGranule < loads_.size() ? loads_[address / kGranule] : 0;
  }

  /// Bytes were stored of which some came from unwritten memory. The same alignment as for `unwritten`.
  void store_unwritten(std::uint64_t address, const Unwritten& bytes) {
    loads_.resize(std::max(loads_.size(), words_.size() * 64 / kGranule));
    for (std::uint64_t bits = bytes.bits; bits != 0 && address / 64 < words_.size(); bits >>= 1, ++address) {
      if ((bits & 1) == 0) continue;
      words_[address / 64] &= ~(std::uint64_t{1} << (address % 64));
      loads_[address / kGranule] = bytes.loads;
    }
  }

  /// Bytes were copied from another place: what came from unwritten memory does so here, too.
  void copy_unwritten(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes && !loads_.empty(); ++i) {
      if (unwritten(from + i, 1) != 0 && loads_of(from + i) != 0)
        store_unwritten(to + i, {1, loads_of(from + i)});
    }
  }

  /// The memory now ends at `end`, and nothing has been written that lies behind `begin`.
  void forget(std::size_t begin, std::size_t end) {
    words_.resize(std::max(words_.size(), (end + 63) / 64), 0);
    for (std::size_t at = begin; at < end; ++at) {
      words_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
      if (at / kGranule < loads_.size()) loads_[at / kGranule] = 0;
    }
  }

 private:
  static constexpr std::uint64_t kGranule = 4;  ///< bytes that share their loads

  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> loads_;  ///< of stored bytes that are unwritten; empty before there are any
};

}  // namespace opgate::simulator
