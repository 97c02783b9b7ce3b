// A stream: work in the order of its issue. Streams, and the default ones that exist without being created.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/devices/handles.h"

namespace opgate::simulator {

class Capture;
class GraphMemory;
class LaunchesInFlight;
class Stream;

/// For the tool `stream`: how many operations of each stream come before something. By the ids of the
/// streams.
using StreamClock = std::map<unsigned long long, std::uint64_t>;

/// A position in a stream: reached when that many of its operations are done.
struct Mark {
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;
  std::shared_ptr<const StreamClock> known;  ///< what comes before the last of them; null if no tool asks

  bool reached() const;
};

/// What an operation does to the simulated devices, apart from when it does it.
struct Work {
  std::function<void()> run;
  cudaGraphNodeType kind = cudaGraphNodeTypeEmpty;
  bool after_faults = false;                         ///< runs although a kernel has faulted before
  std::shared_ptr<GraphMemory> allocates = nullptr;  ///< memory that a node of a graph gives out
};

struct QueuedWork {
  Work work;
  std::vector<Mark> after;                   ///< other streams' work that must be done first
  std::shared_ptr<const StreamClock> known;  ///< what comes before it; null if no tool asks
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(int device, unsigned flags, int priority, unsigned long long id)
      : device(device), flags(flags), priority(priority), id(id) {}

  /// The stream waits for the legacy default stream, and that one for it.
  bool blocking() const { return (flags & cudaStreamNonBlocking) == 0; }

  /// Everything that was issued so far.
  Mark end() { return {shared_from_this(), issued, known}; }
  bool idle() const { return done == issued; }

  const int device;
  const unsigned flags;
  const int priority;
  const unsigned long long id;
  bool legacy = false;
  bool destroyed = false;  ///< its work goes on to its end
  bool held_up = false;    ///< see opgate_sim_hold_up()

  std::deque<QueuedWork> queue;
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
  std::uint64_t awaited = 0;                   ///< of those that are done, how many the host has waited for
  std::uint64_t last_issue = 0;                ///< grows with each operation of any stream
  std::shared_ptr<const StreamClock> known;    ///< what comes before the last operation; null if no tool asks
  std::shared_ptr<LaunchesInFlight> launches;  ///< the last kernels that ran, if a tool has watched them
  std::shared_ptr<Capture> capture;            ///< null if the stream captures no graph
};

class Streams {
 public:
  explicit Streams(int devices);

  cudaStream_t create(int device, unsigned flags, int priority);

  /// The stream of a handle; null and cudaStreamLegacy name the legacy default stream of `device`,
  /// cudaStreamPerThread the calling thread's one. Refuses unknown handles.
  std::shared_ptr<Stream> resolve(cudaStream_t handle, int device);

  /// The stream's work goes on to its end.
  void destroy(cudaStream_t handle);

  int devices() const { return static_cast<int>(by_device_.size()); }

  Stream& legacy(int device) { return *of_device(device).front(); }

  /// Every stream of a device that can have work, the legacy one included, in the order of their creation.
  /// Other threads may create and destroy streams while a host function runs.
  const std::vector<std::shared_ptr<Stream>>& of_device(int device) const {
    return by_device_.at(static_cast<std::size_t>(device));
  }

 private:
  std::shared_ptr<Stream> make(int device, unsigned flags, int priority);

  unsigned long long next_id_ = 1;
  std::vector<std::vector<std::shared_ptr<Stream>>> by_device_;  ///< the legacy stream of each device first
  std::map<std::pair<std::thread::id, int>, std::shared_ptr<Stream>> per_thread_;
  Handles<cudaStream_t, Stream> created_;
};

}  // namespace opgate::simulator
