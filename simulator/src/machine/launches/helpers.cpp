#include "machine/launches/helpers.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>

#include "machine/launches/background_thread.h"

namespace opgate::simulator {
namespace {

struct Task {
  const std::function<void()>& work;
  unsigned to_begin = 0;  ///< so many helpers are still wanted
  unsigned at_work = 0;
  std::exception_ptr thrown;
};

struct Helpers {
  std::mutex mutex;
  std::condition_variable has_tasks;
  std::condition_variable is_done;
  std::deque<Task*> tasks;  ///< that want helpers
  unsigned threads = 0;
};

void help(Helpers& all) {
  std::unique_lock lock(all.mutex);
  for (;;) {
    all.has_tasks.wait(lock, [&] { return !all.tasks.empty(); });
    Task& task = *all.tasks.front();
    if (--task.to_begin == 0) all.tasks.pop_front();
    ++task.at_work;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      task.work();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown != nullptr) task.thrown = thrown;
    if (--task.at_work == 0) all.is_done.notify_all();
  }
}

// Never destroyed: the threads live as long as the process.
Helpers& helpers_of_process() {
  static Helpers* const only = [] {
    static auto* const made = new Helpers;
    // A child process has none of these threads, and one of them may have held the lock.
    pthread_atfork(nullptr, nullptr, [] { new (made) Helpers; });
    return made;
  }();
  return *only;
}

void begin_threads(Helpers& all, unsigned wanted) {
  try {
    for (; all.threads < wanted; ++all.threads) begin_background_thread([&all] { help(all); }).detach();
  } catch (const std::system_error&) {
    // The system has no more threads. Those that there are do the work.
  }
}

}  // namespace

void do_with_helpers(unsigned helpers, const std::function<void()>& own,
                     const std::function<void()>& helping) {
  Helpers& all = helpers_of_process();
  Task task{helping, helpers, 0, nullptr};
  if (helpers != 0) {
    const std::lock_guard lock(all.mutex);
    begin_threads(all, helpers);
    all.tasks.push_back(&task);
  }
  all.has_tasks.notify_all();
  std::exception_ptr thrown;
  try {
    own();
  } catch (...) {
    thrown = std::current_exception();
  }
  std::unique_lock lock(all.mutex);
  std::erase(all.tasks, &task);
  all.is_done.wait(lock, [&] { return task.at_work == 0; });
  if (thrown == nullptr) thrown = task.thrown;
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace opgate::simulator
