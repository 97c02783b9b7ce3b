#include "runtime/streams/unawaited_work.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "machine/launches/background_thread.h"
#include "runtime/devices/simulator.h"
#include "runtime/findings/report.h"
#include "runtime/streams/host_activity.h"
#include "runtime/streams/lock.h"

namespace opgate::simulator {
namespace unawaited_work {

using std::chrono::milliseconds;

// If all threads that use CUDA wait for other threads, and none of those can go on, the program waits for the
// device. That threads are found so again and again rules out that one is just about to go on.
constexpr milliseconds kStandsStill{50};
// A program that computes or sleeps may look at memory again and again, or may have forgotten to wait. It
// must have much time for what it computes before it reads a result, so that a missing wait shows.
constexpr milliseconds kOwnTime{3000};

constexpr milliseconds kBetweenLooks{10};
// Each look costs something, and a program that computes or sleeps has seconds.
constexpr milliseconds kBetweenLooksAtBusy{50};
constexpr milliseconds kShortly{200};
// A kernel that never ends must not keep the process from its end.
constexpr std::chrono::seconds kLongestEnd{5};

// Never destroyed: the thread lives as long as the process.
struct Runner {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_begun = false;
  bool has_work = false;
  bool is_stopped = false;
  bool runs = false;
  std::thread::id thread;
};

Runner& runner() {
  static auto* const only = new Runner;
  return *only;
}

// Waits until the program does nothing but wait for the device. False if it has called the runtime.
bool program_waits(std::uint64_t calls) {
  HostWatch watch;
  for (;;) {
    const bool is_busy = watch.own_time() >= kShortly && watch.stood_still() == milliseconds(0);
    std::this_thread::sleep_for(is_busy ? kBetweenLooksAtBusy : kBetweenLooks);
    if (host_calls_begun() != calls || is_in_host_call()) return false;
    watch.look();
    if (watch.stood_still() >= kStandsStill || watch.own_time() >= kOwnTime) return true;
  }
}

// Runs one operation after the other, until the program calls the runtime.
void run_all(std::uint64_t calls) {
  for (bool is_first = true; host_calls_begun() == calls; is_first = false) {
    const std::lock_guard lock(simulator_mutex());
    Simulator& known = simulator();
    if (host_calls_begun() != calls || !known.execution.run_unawaited()) return;
    if (is_first) report_progress("ran what the program waits for without a function of CUDA");
  }
}

bool is_any_left() {
  const std::lock_guard lock(simulator_mutex());
  return simulator().execution.has_unawaited();
}

void watch_and_run() {
  Runner& state = runner();
  for (;;) {
    {
      std::unique_lock lock(state.mutex);
      state.changed.wait(lock, [&] { return state.has_work; });
      state.has_work = false;
    }
    while (is_any_left()) {
      const std::uint64_t calls = host_calls_begun();
      if (!program_waits(calls)) continue;
      {
        const std::lock_guard lock(state.mutex);
        if (state.is_stopped) return;
        state.runs = true;
      }
      run_all(calls);
      {
        const std::lock_guard lock(state.mutex);
        state.runs = false;
      }
      state.changed.notify_all();
    }
  }
}

void begin_thread(Runner& state) {
  std::thread thread = begin_background_thread(&watch_and_run);
  state.thread = thread.get_id();
  thread.detach();
}

}  // namespace unawaited_work

void expect_unawaited_work() {
  unawaited_work::Runner& state = unawaited_work::runner();
  {
    const std::lock_guard lock(state.mutex);
    if (!state.has_begun) unawaited_work::begin_thread(state);
    state.has_begun = true;
    state.has_work = true;
  }
  state.changed.notify_all();
}

void forget_unawaited_work_of_parent() { new (&unawaited_work::runner()) unawaited_work::Runner; }

void stop_unawaited_work() {
  unawaited_work::Runner& state = unawaited_work::runner();
  std::unique_lock lock(state.mutex);
  state.is_stopped = true;
  if (state.thread == std::this_thread::get_id()) return;  // a function of the host ends the process
  state.changed.wait_for(lock, unawaited_work::kLongestEnd, [&] { return !state.runs; });
}

}  // namespace opgate::simulator
