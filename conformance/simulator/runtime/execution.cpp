#include "simulator/runtime/execution.h"

#include <algorithm>
#include <utility>

#include "simulator/runtime/capture.h"
#include "simulator/runtime/errors.h"
#include "simulator/runtime/lock.h"

namespace opgate::simulator {
namespace execution {

// The queue of a real device holds about as many launches; a further one waits until the first is done.
constexpr std::size_t kQueueDepth = 1024;

thread_local bool in_host_call = false;

}  // namespace execution

// The right to run operations, which a thread may take again while it has it: an operation that waits for another stream runs
// that stream's operations.
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
  std::erase_if(after, [](const Mark& mark) { return mark.reached(); });
  stream.queue.push_back({std::move(work), std::move(after)});
  ++stream.issued;
  stream.last_issue = ++issues_;
  if (eager_) finish(stream);
  if (stream.queue.size() > execution::kQueueDepth) advance(stream);
}

// The legacy default stream waits for all blocking streams of its device, and they wait for it.
void Execution::add_implicit_order(Stream& stream, std::vector<Mark>& after) {
  if (!stream.blocking()) return;
  if (!stream.legacy) {
    after.push_back(streams_.legacy(stream.device).end());
    return;
  }
  for (const auto& other : streams_.of_device(stream.device)) {
    if (other.get() == &stream || !other->blocking()) continue;
    if (other->capture != nullptr) {
      other->capture->invalidate();
      refuse(cudaErrorStreamCaptureImplicit);
    }
    after.push_back(other->end());
  }
}

void Execution::finish(const Mark& mark) {
  if (mark.reached()) return;
  const Turn turn(*this);
  while (!mark.reached() && !mark.stream->queue.empty()) run_next(*mark.stream);
}

void Execution::finish_device(int device) {
  auto streams = streams_.of_device(device);
  std::ranges::sort(streams, [](const auto& a, const auto& b) { return a->last_issue > b->last_issue; });
  for (const auto& stream : streams) finish(*stream);
}

void Execution::advance(Stream& stream) {
  const Turn turn(*this);
  if (!stream.queue.empty()) run_next(stream);
}

void Execution::run_next(Stream& stream) {
  // The stream may be destroyed by another thread while a host function of it runs.
  const std::shared_ptr<Stream> kept = stream.shared_from_this();
  const QueuedWork operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  for (const Mark& mark : operation.after) finish(mark);
  if (errors::sticky() == cudaSuccess || operation.work.after_faults) operation.work.run();
  ++stream.done;
}

void Execution::call_host(const std::function<void()>& function) {
  const Unlocked unlocked;
  execution::in_host_call = true;
  function();
  execution::in_host_call = false;
}

bool Execution::in_host_call() { return execution::in_host_call; }

}  // namespace opgate::simulator
