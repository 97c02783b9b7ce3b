#include "run/job_window.h"

#include <algorithm>
#include <utility>

namespace opgate {
namespace {

using std::chrono::steady_clock;

// How much work a worker gets ahead of its answers: enough to stay busy while the supervisor serves others,
// and little enough that the last worker does not end long after the others.
constexpr std::chrono::duration<double> kWorkAhead = std::chrono::milliseconds(20);
constexpr size_t kFewest = 2;
constexpr size_t kMost = 1024;
// As shares of a job's limit: the processor time above which the job counts as running, and below which as
// idle. Then how many limits a job may last on a busy machine.
constexpr double kShareOfLimit = 0.8;
constexpr double kShareOfIdle = 0.02;
constexpr int kMostLimits = 10;

}  // namespace

size_t JobWindow::most(size_t left) const { return std::clamp(left, kFewest, size_); }

void JobWindow::add(Job job) {
  jobs_.push_back(std::move(job));
  if (jobs_.size() > 1) return;
  busy_since_ = steady_clock::now();
  begin_time();
}

Job JobWindow::take_first() {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  if (!jobs_.empty()) begin_time();
  return job;
}

Job JobWindow::take_last() {
  Job job = std::move(jobs_.back());
  jobs_.pop_back();
  return job;
}

double JobWindow::keep_pace(size_t answers) {
  if (answers == 0) return 0;
  const auto now = steady_clock::now();
  const std::chrono::duration<double> a_call = (now - std::exchange(busy_since_, now)) / answers;
  const auto wanted = static_cast<size_t>(kWorkAhead / std::max(a_call, kWorkAhead / kMost));
  size_ = std::clamp(wanted, kFewest, std::min(2 * size_, kMost));
  return a_call.count();
}

double JobWindow::seconds_of_first() const {
  return std::chrono::duration<double>(steady_clock::now() - busy_since_).count();
}

void JobWindow::narrow() { size_ = kFewest; }

void JobWindow::begin_time() {
  began_ = steady_clock::now();
  deadline_ = began_ + first().limit;
  cpu_at_begin_ = cpu_seen_ = process_.cpu_time();
}

bool JobWindow::is_late() { return !empty() && steady_clock::now() >= deadline_ && !makes_progress(); }

// Whether the first job is slow because the machine is busy: its process runs, and has had less of a
// processor than the limit. A process that waits for something that never comes uses none, and one in an
// endless loop soon more than the limit.
bool JobWindow::makes_progress() {
  using namespace std::chrono;
  const seconds limit = first().limit;
  const nanoseconds now = process_.cpu_time();
  const nanoseconds since_seen = now - std::exchange(cpu_seen_, now);
  const nanoseconds used = now - cpu_at_begin_;
  const bool is_spent = used >= limit * kShareOfLimit || steady_clock::now() - began_ >= limit * kMostLimits;
  if (is_spent || since_seen < limit * kShareOfIdle) return false;
  deadline_ = steady_clock::now() + std::max<nanoseconds>(limit / 4, seconds(1));
  return true;
}

std::string_view JobWindow::option_of_limit() const {
  if (process_.kind() == Worker::native) return " (--time-limit)";
  return first().call ? " (--python-time-limit)" : "";
}

}  // namespace opgate
