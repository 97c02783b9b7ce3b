// When operations run: as late as a device may run them, which is when the host waits for them. A program
// that forgot to wait then reads old values each time and not only now and then.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/streams/stream.h"

namespace opgate::simulator {

class StreamWatch;

class Execution {
 public:
  Execution(Streams& streams, bool eager) : streams_(streams), eager_(eager) {}

  /// Adds work to a stream, or to the graph that it captures. `after`: further work that it waits for.
  void issue(Stream& stream, Work work, std::vector<Mark> after = {});

  /// From now on the tool learns of the order of operations. It may be null.
  void tell(std::shared_ptr<StreamWatch> watch) { watch_ = std::move(watch); }

  /// The host has found out that the mark is reached.
  void host_knows(const Mark& mark);

  /// Refuses the legacy default stream while a blocking stream of its device captures: the capture would
  /// depend on it.
  void refuse_implicit_capture(const Stream& stream);

  /// What an operation of the legacy default stream of a device would wait for.
  std::vector<Mark> before_default_stream(int device);

  /// The host waits for the mark. Runs what is needed for that, and nothing else.
  void finish(const Mark& mark);
  void finish(Stream& stream) { finish(stream.end()); }

  /// Runs everything on a device. What nothing orders runs against the order of its issue: the stream that
  /// was given work last comes first.
  void finish_device(int device);

  /// Runs everything on all devices, although the host does not wait for it. Freeing memory does so, because
  /// work that is still to run may use it; no manual promises that, so that for the tool `stream` it is no
  /// wait of the host.
  void complete_all();

  /// Whether there is work that could run although the host waits for none of it.
  bool has_unawaited();
  /// Runs an operation of it, in the order of `finish_device`. False if there is none.
  bool run_unawaited();
  /// Whether the operation that runs is one of it.
  bool is_unawaited() const { return is_unawaited_; }

  /// Whether streams have work, besides the one whose operation runs now.
  bool has_other_work() const;

  /// Runs one operation, if there is one: a program that polls makes progress.
  void advance(Stream& stream);

  /// Runs a part of the operation of `running()`.
  void run(const Work& work);

  /// The stream whose operation runs now. There must be one.
  Stream& running() { return *running_; }

  /// Calls a function of the simulated program. Other threads may call the runtime meanwhile, this one may
  /// not.
  static void call_host(const std::function<void()>& function);

  /// Whether the calling thread runs a function of `call_host`.
  static bool in_host_call();

 private:
  class Turn;

  Stream* next_unawaited();
  void complete(const Mark& mark);
  void complete_device(int device);
  void run_next(Stream& stream);
  void run_ahead(Stream& stream);
  void add_implicit_order(Stream& stream, std::vector<Mark>& after);

  Streams& streams_;
  bool eager_;
  std::shared_ptr<StreamWatch> watch_;  ///< null if the tool `stream` is not asked for
  std::uint64_t issues_ = 0;
  Stream* running_ = nullptr;
  bool is_unawaited_ = false;

  // One thread at a time runs operations: while a host function runs, the lock of the simulator is free.
  std::condition_variable free_;
  std::thread::id runner_;
  int depth_ = 0;
};

}  // namespace opgate::simulator
