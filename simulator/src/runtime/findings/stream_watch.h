// The tool `stream`: two operations of different streams that access the same memory, of which at least one
// writes, and which nothing orders: neither an event, nor the rules of the default stream, nor that the host
// has waited in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/findings/stream_shadow.h"
#include "runtime/streams/stream.h"
#include "watch/stream/accessed_memory.h"

namespace opgate::simulator {

class StreamWatch {
 public:
  using Known = std::shared_ptr<const StreamClock>;

  /// What comes before a new operation of a stream, which waits for the marks.
  Known issue(Stream& stream, const std::vector<Mark>& after);

  /// What the host issues from now on comes after this.
  void host_waits_for(const Mark& mark);

  /// What comes before anything that the host does now and that waits for the marks.
  Known known_to_host(const std::vector<Mark>& after) const;

  /// While it lives, accesses are those of this operation.
  class Running {
   public:
    Running(std::shared_ptr<StreamWatch> watch, const Stream& stream, std::uint64_t position, Known known);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    friend class StreamWatch;
    std::shared_ptr<StreamWatch> watch_;
    const Running* former_ = nullptr;
    unsigned long long stream_;
    std::uint64_t position_;
    Known known_;
  };

  /// Accesses of the operation that runs.
  void reads(const std::string& operation, std::uint64_t begin, std::size_t bytes);
  void writes(const std::string& operation, std::uint64_t begin, std::size_t bytes);
  void accesses(const std::string& kernel, const std::vector<AccessedRange>& ranges);

  /// There is new memory.
  void begins(std::uint64_t begin, std::size_t bytes);
  /// The memory is no more.
  void ends(std::uint64_t begin, std::size_t bytes);

  /// The host frees memory at a moment when it knew this. That one stream alone has used it is no mistake: it
  /// is also the order in which an allocator above the runtime takes it back.
  void frees(const Known& known, std::uint64_t begin, std::size_t bytes);

  /// A kernel has failed, and with it all that was issued before: nothing of it runs beside what comes.
  void context_ends();

  /// The code that frees the memory will wait for the stream, as an allocator above the runtime does.
  void will_wait(std::uint64_t address, const Stream& stream);

 private:
  void access(StreamAccess access, std::uint64_t begin, std::size_t bytes);
  void look_at(const StreamAccess& access, const StreamClock& known, std::uint64_t begin, std::size_t bytes);
  void report(const StreamAccess& access, const StreamAccess& before, std::uint64_t address,
              std::size_t bytes);

  struct Allocation {
    std::size_t bytes = 0;
    std::set<unsigned long long> users;    ///< streams
    std::set<unsigned long long> awaited;  ///< before it is freed
  };

  Allocation* allocation_at(std::uint64_t address);

  StreamClock host_;
  std::map<std::uint64_t, Allocation>
      allocations_;  ///< by their start; those that began while the tool watches
  StreamShadow shadow_;
  const Running* running_ = nullptr;
  std::set<std::pair<std::string, std::string>> reported_;  ///< operations with their streams
};

}  // namespace opgate::simulator
