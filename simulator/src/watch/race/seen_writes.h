// Which strong writes of others a thread has seen by strong loads. PTX orders what the thread does at the
// same place behind such a write, also if nothing has released it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "watch/access_record.h"

namespace opgate::simulator {

/// The last few of one thread, or of all threads of a block that have met.
class SeenWrites {
 public:
  void add(std::uint64_t address, unsigned bytes, const AccessRecord& write) {
    if (has(address, bytes, write)) return;
    last_[next_] = {address, bytes, write};
    next_ = (next_ + 1) % last_.size();
  }

  /// What another thread has seen, with which this one has met.
  void add(const SeenWrites& others) {
    for (const Seen& seen : others.last_) {
      if (seen.bytes != 0) add(seen.address, seen.bytes, seen.write);
    }
  }

  bool has(std::uint64_t address, unsigned bytes, const AccessRecord& write) const {
    for (const Seen& seen : last_) {
      if (seen.bytes == bytes && seen.address == address && seen.write == write) return true;
    }
    return false;
  }

 private:
  struct Seen {
    std::uint64_t address = 0;
    unsigned bytes = 0;  ///< 0: there is none
    AccessRecord write;
  };

  std::array<Seen, 4> last_;
  std::size_t next_ = 0;
};

}  // namespace opgate::simulator
