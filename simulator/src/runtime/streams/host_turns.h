// Threads of the host that take turns, so that what one of them does between two functions of the runtime is
// met by those of another one.
#pragma once

#include "runtime/streams/host_activity.h"
#include "runtime/streams/lock.h"

namespace opgate::simulator {

/// From now on this thread is one of so many, of which each waits, after a function of the runtime, until
/// another one has called as many, or can call none: it has left, or it waits for something, such as a lock
/// that this thread holds. Returns once all of them have joined, and those with a lower position have begun.
void join_turns(unsigned threads, unsigned position);

void leave_turns();

/// Waits as above where this thread has joined.
void give_turn();

/// What a function of the runtime holds while it runs.
class HostCall {
 public:
  HostCall() {
    begin_host_call();
    simulator_mutex().lock();
  }
  ~HostCall() {
    simulator_mutex().unlock();
    give_turn();
    end_host_call();
  }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
};

}  // namespace opgate::simulator
