// An event: a mark in a stream, with the time at which it was reached.
#pragma once

#include <driver_types.h>

#include <memory>
#include <optional>
#include <vector>

#include "runtime/graphs/capture.h"
#include "runtime/streams/stream.h"

namespace opgate::simulator {

class Execution;

class Event {
 public:
  Event(int device, unsigned flags) : device_(device), flags_(flags) {}

  void record(Execution& execution, Stream& stream);

  /// Makes further work of the stream wait for the event.
  void make_wait(Execution& execution, Stream& stream) const;

  /// Refuses where the event was recorded in a capture last, which becomes invalid.
  void refuse_captured() const;

  bool reached() const { return mark_.reached(); }
  const Mark& mark() const { return mark_; }

  /// Milliseconds between two events, which must both have been reached.
  static float elapsed(const Event& from, const Event& to);

 private:
  double time() const;

  int device_;
  unsigned flags_;
  Mark mark_;
  std::shared_ptr<std::optional<double>>
      time_;                          // shared with the work that sets it; null before the first record
  std::shared_ptr<Capture> capture_;  // that the event was recorded in last
  std::vector<GraphNode*> nodes_;     // that it stands for there
};

}  // namespace opgate::simulator
