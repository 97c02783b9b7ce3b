#include "runtime/streams/execution.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/findings/errors.h"
#include "runtime/findings/stream_watch.h"
#include "runtime/graphs/capture.h"
#include "runtime/streams/lock.h"
#include "runtime/streams/unawaited_work.h"

namespace opgate::simulator {
namespace execution {

// The queue of a real device holds about as many launches; a further one waits until the first is done.
constexpr std::size_t kQueueDepth = 1024;

thread_local bool in_host_call = false;

bool any_is_held_up(const std::vector<std::shared_ptr<Stream>>& streams) {
  return std::ranges::any_of(streams, [](const auto& stream) { return stream->held_up; });
}

// Whether operations up to the position, or what they wait for, are in the queue of a stream that is held up.
// An operation that runs has left the queue and is not done yet.
bool is_held_up(const Stream& stream, std::uint64_t position) {
  if (stream.done >= position) return false;
  if (stream.held_up) return true;
  const std::uint64_t before_queue = stream.issued - stream.queue.size();
  for (std::uint64_t i = 0; before_queue + i < position && i < stream.queue.size(); ++i) {
    for (const Mark& mark : stream.queue[i].after) {
      if (mark.stream != nullptr && is_held_up(*mark.stream, mark.position)) return true;
    }
  }
  return false;
}

}  // namespace execution

// The right to run operations, which a thread may take again while it has it: an operation that waits for
// another stream runs that stream's operations.
class Execution::Turn {
 public:
  explicit Turn(Execution& execution) : execution_(execution) {
    if (execution_.runner_ != std::this_thread::get_id()) {
      std::unique_lock lock(simulator_mutex(), std::adopt_lock);
      execution_.free_.wait(lock, [&] { return execution_.depth_ == 0; });
      static_cast<void>(lock.release());
      execution_.runner_ = std::this_thread::get_id();
    }
    ++execution_.depth_;
  }
  ~Turn() {
    if (--execution_.depth_ > 0) return;
    execution_.runner_ = {};
    execution_.free_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Execution& execution_;
};

void Execution::issue(Stream& stream, Work work, std::vector<Mark> after) {
  if (stream.capture != nullptr) {
    stream.capture->add(stream, std::move(work));
    return;
  }
  add_implicit_order(stream, after);
  auto known = watch_ == nullptr ? nullptr : watch_->issue(stream, after);
  std::erase_if(after, [](const Mark& mark) { return mark.reached(); });
  stream.queue.push_back({std::move(work), std::move(after), std::move(known)});
  ++stream.issued;
  stream.last_issue = ++issues_;
  if (eager_) complete(stream.end());
  if (execution::any_is_held_up(streams_.of_device(stream.device))) run_ahead(stream);
  if (stream.queue.size() > execution::kQueueDepth) advance(stream);
  if (!stream.idle()) expect_unawaited_work();
}

// The legacy default stream waits for all blocking streams of its device, and they wait for it.
void Execution::add_implicit_order(Stream& stream, std::vector<Mark>& after) {
  if (!stream.blocking()) return;
  if (!stream.legacy) {
    after.push_back(streams_.legacy(stream.device).end());
    return;
  }
  refuse_implicit_capture(stream);
  for (const auto& other : streams_.of_device(stream.device)) {
    if (other.get() != &stream && other->blocking()) after.push_back(other->end());
  }
}

void Execution::refuse_implicit_capture(const Stream& stream) {
  if (!stream.legacy) return;
  for (const auto& other : streams_.of_device(stream.device)) {
    if (!other->blocking() || other->capture == nullptr) continue;
    other->capture->invalidate();
    refuse(cudaErrorStreamCaptureImplicit);
  }
}

void Execution::host_knows(const Mark& mark) {
  if (watch_ != nullptr) watch_->host_waits_for(mark);
  if (mark.stream != nullptr) mark.stream->awaited = std::max(mark.stream->awaited, mark.position);
}

std::vector<Mark> Execution::before_default_stream(int device) {
  std::vector<Mark> marks;
  for (const auto& stream : streams_.of_device(device)) {
    if (stream->blocking()) marks.push_back(stream->end());
  }
  return marks;
}

void Execution::finish(const Mark& mark) {
  host_knows(mark);
  complete(mark);
}

void Execution::complete(const Mark& mark) {
  if (mark.reached()) return;
  const Turn turn(*this);
  mark.stream->held_up = false;
  while (!mark.reached() && !mark.stream->queue.empty()) run_next(*mark.stream);
}

void Execution::finish_device(int device) {
  for (const auto& stream : streams_.of_device(device)) {
    if (stream->awaited < stream->issued) host_knows(stream->end());
  }
  complete_device(device);
}

void Execution::complete_all() {
  for (int device = 0; device < streams_.devices(); ++device) complete_device(device);
}

void Execution::complete_device(int device) {
  std::vector<std::shared_ptr<Stream>> streams;
  std::ranges::copy_if(streams_.of_device(device), std::back_inserter(streams),
                       [](const auto& stream) { return !stream->idle(); });
  std::ranges::sort(streams, [](const auto& a, const auto& b) { return a->last_issue > b->last_issue; });
  for (const auto& stream : streams) complete(stream->end());
}

Stream* Execution::next_unawaited() {
  Stream* last = nullptr;
  for (int device = 0; device < streams_.devices(); ++device) {
    for (const auto& stream : streams_.of_device(device)) {
      const bool may_run = !stream->queue.empty() && !execution::is_held_up(*stream, stream->done + 1);
      if (may_run && (last == nullptr || stream->last_issue > last->last_issue)) last = stream.get();
    }
  }
  return last;
}

bool Execution::has_unawaited() { return next_unawaited() != nullptr; }

bool Execution::has_other_work() const {
  for (int device = 0; device < streams_.devices(); ++device) {
    for (const auto& stream : streams_.of_device(device))
      if (stream.get() != running_ && !stream->queue.empty()) return true;
  }
  return false;
}

bool Execution::run_unawaited() {
  const Turn turn(*this);
  Stream* const stream = next_unawaited();
  if (stream == nullptr) return false;
  is_unawaited_ = true;
  run_next(*stream);
  is_unawaited_ = false;
  return true;
}

// Runs what no stream that is held up keeps waiting.
void Execution::run_ahead(Stream& stream) {
  const Turn turn(*this);
  while (!stream.queue.empty() && !execution::is_held_up(stream, stream.done + 1)) run_next(stream);
}

void Execution::advance(Stream& stream) {
  const Turn turn(*this);
  if (std::exchange(stream.held_up, false))
    return;  // a program that polls sees that it takes a while, and then ends
  if (!stream.queue.empty()) run_next(stream);
}

void Execution::run_next(Stream& stream) {
  // The stream may be destroyed by another thread while a host function of it runs.
  const std::shared_ptr<Stream> kept = stream.shared_from_this();
  const QueuedWork operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  for (const Mark& mark : operation.after) complete(mark);
  const StreamWatch::Running running(watch_, stream, stream.done + 1, operation.known);
  Stream* const former = std::exchange(running_, &stream);
  run(operation.work);
  running_ = former;
  ++stream.done;
}

void Execution::run(const Work& work) {
  // Only a kernel may begin before the operation before it has ended, and only if that one is a kernel, too.
  if (work.kind != cudaGraphNodeTypeKernel) running_->launches = nullptr;
  if (errors::sticky() == cudaSuccess || work.after_faults) work.run();
  if (work.kind == cudaGraphNodeTypeGraph) running_->launches = nullptr;
}

void Execution::call_host(const std::function<void()>& function) {
  const Unlocked unlocked;
  execution::in_host_call = true;
  function();
  execution::in_host_call = false;
}

bool Execution::in_host_call() { return execution::in_host_call; }

}  // namespace opgate::simulator
