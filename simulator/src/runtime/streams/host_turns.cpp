#include "runtime/streams/host_turns.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

namespace opgate::simulator {
namespace host_turns {

// So often a thread asks whether it may go on before it sleeps. A thread that has slept goes on later than
// the one that it waited for, so that it meets less of what that one does between two functions.
constexpr int kQuickLooks = 200;
// On a busy machine another process gets a whole time slice at each look. A thread that sleeps goes on
// sooner.
constexpr std::chrono::milliseconds kQuickEnd{2};
// So often in a row a thread must be found asleep before it counts as waiting: it may sleep for a moment, in
// malloc or for the lock of the simulator.
constexpr int kLooks = 4;
constexpr std::chrono::microseconds kBetweenLooks{50};
// The other threads may compute, or spin for a lock that this one holds.
constexpr std::chrono::milliseconds kLongest{250};
// Turns take 4 ms in all on an idle machine. On one where each takes a time slice of other processes, a
// thread that has waited so long goes on without turns, so that a right operator does not seem to hang.
constexpr std::chrono::milliseconds kLongestInAll{500};

struct Member {
  explicit Member(unsigned its_position) : position(its_position) {}

  unsigned position;
  long thread = syscall(SYS_gettid);
  std::uint64_t calls = 0;
  std::chrono::steady_clock::duration waited{0};
  bool left = false;
};

struct Group {
  std::mutex mutex;  // of everything else here
  std::condition_variable changed;
  std::deque<Member> members;
  bool ready = false;
};

std::mutex joining;
std::shared_ptr<Group> incomplete;  // guarded by `joining`
thread_local std::shared_ptr<Group> group;
thread_local Member* own = nullptr;

bool is_asleep(const Member& member) {
  std::ifstream stream("/proc/self/task/" + std::to_string(member.thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = text.rfind(')');  // the state follows the name, which may hold any character
  return name_end == std::string::npos || text.size() < name_end + 3 || text[name_end + 2] != 'R';
}

// Waits until `has_called` says yes of one of the members, or all of them have left or wait for something.
template <class HasCalled>
void wait_for_others(std::unique_lock<std::mutex>& lock, const HasCalled& has_called) {
  const auto any_other = [](const auto& is_so) {
    return std::ranges::any_of(
        group->members, [&](const Member& other) { return &other != own && !other.left && is_so(other); });
  };
  const auto is_over = [&] {
    return any_other(has_called) || !any_other([](const Member&) { return true; });
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int looks = 0; looks < kQuickLooks; ++looks) {
    if (is_over()) return;
    if (std::chrono::steady_clock::now() - begin > kQuickEnd) break;
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  const auto end = std::chrono::steady_clock::now() + kLongest;
  for (int looks = 0; looks < kLooks && std::chrono::steady_clock::now() < end;) {
    if (group->changed.wait_for(lock, kBetweenLooks, is_over)) return;
    looks = any_other([](const Member& other) { return !is_asleep(other); }) ? 0 : looks + 1;
  }
}

template <class HasCalled>
void wait_for(std::unique_lock<std::mutex>& lock, const HasCalled& has_called) {
  if (own->waited > kLongestInAll) return;
  const auto begin = std::chrono::steady_clock::now();
  wait_for_others(lock, has_called);
  own->waited += std::chrono::steady_clock::now() - begin;
}

}  // namespace host_turns

void join_turns(unsigned threads, unsigned position) {
  using namespace host_turns;
  {
    const std::lock_guard lock(joining);
    if (incomplete == nullptr) incomplete = std::make_shared<Group>();
    group = incomplete;
    const std::lock_guard changes(group->mutex);
    own = &group->members.emplace_back(position);
    if (group->members.size() == threads) {
      group->ready = true;
      incomplete.reset();
    }
  }
  group->changed.notify_all();
  std::unique_lock lock(group->mutex);
  group->changed.wait(lock, [] { return group->ready; });
  if (position > 0)
    wait_for(lock, [&](const Member& other) { return other.position < position && other.calls > 0; });
}

void leave_turns() {
  using namespace host_turns;
  {
    const std::lock_guard lock(group->mutex);
    own->left = true;
  }
  group->changed.notify_all();
  own = nullptr;
  group.reset();
}

void give_turn() {
  using namespace host_turns;
  if (own == nullptr) return;
  std::unique_lock lock(group->mutex);
  const std::uint64_t calls = ++own->calls;
  group->changed.notify_all();
  wait_for(lock, [&](const Member& other) { return other.calls >= calls; });
}

}  // namespace opgate::simulator
