#include "run/worker/attend.h"

#include <poll.h>

#include <chrono>
#include <thread>

#include "process/interrupt.h"

namespace opgate {
namespace {

constexpr int kPollMilliseconds = 100;
// Answers are read in batches: waking up for each one costs more than reading it.
constexpr std::chrono::milliseconds kAnswerBatchInterval{1};

}  // namespace

bool attend(const std::vector<WorkerClient*>& workers) {
  std::vector<pollfd> waiting;
  for (WorkerClient* worker : workers) {
    worker->feed();
    waiting.push_back({worker->answers(), POLLIN, 0});
    waiting.push_back({worker->commands(), POLLOUT, 0});
  }
  poll(waiting.data(), waiting.size(), kPollMilliseconds);
  if (interrupted()) return false;
  std::this_thread::sleep_for(kAnswerBatchInterval);
  for (size_t i = 0; i < workers.size(); ++i) {
    if (waiting[2 * i + 1].revents != 0) workers[i]->send();
    if (waiting[2 * i].revents != 0) workers[i]->receive();
    workers[i]->check_deadline();
  }
  return true;
}

}  // namespace opgate
