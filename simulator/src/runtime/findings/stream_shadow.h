// Which operations of streams have accessed each part of memory last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/streams/stream.h"

namespace opgate::simulator {

/// An access by an operation of a stream, or by the host.
struct StreamAccess {
  std::string operation = {};     ///< "kernel add (st.global.f32)", "a copy"
  std::string kernel = {};        ///< empty for other operations
  std::string location = {};      ///< of the kernel's instruction
  unsigned long long stream = 0;  ///< its id; 0: the host
  std::uint64_t position = 0;     ///< in the stream; 0: there was no access
  bool writes = false;            ///< or allocates or frees
  bool is_strong = false;         ///< atomic, volatile or relaxed: two of these need no order
};

class StreamShadow {
 public:
  using Report = std::function<void(const StreamAccess& before, std::uint64_t address, std::size_t bytes)>;

  /// Looks at an access, of which `known` says what comes before it, and remembers it. Calls `report` for
  /// each access that nothing orders with it, and one of which writes.
  void access(const StreamAccess& access, const StreamClock& known, std::uint64_t begin, std::size_t bytes,
              const Report& report);

  /// The memory is new.
  void forget(std::uint64_t begin, std::size_t bytes);

 private:
  struct Segment {
    std::uint64_t end = 0;
    StreamAccess write;
    std::vector<StreamAccess> reads;  ///< since the write, one of each stream
  };

  void split(std::uint64_t address);
  void fill_gaps(std::uint64_t begin, std::uint64_t end);

  std::map<std::uint64_t, Segment> segments_;  ///< by their start
};

}  // namespace opgate::simulator
