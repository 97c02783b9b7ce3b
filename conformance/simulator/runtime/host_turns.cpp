#include "simulator/runtime/host_turns.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

namespace opgate::simulator {
namespace host_turns {

// So often in a row a thread must be found asleep before it counts as waiting: it may sleep for a moment, in
// malloc or for the lock of the simulator.
constexpr int kLooks = 50;
// The other threads may compute, or spin for a lock that this one holds.
constexpr std::chrono::milliseconds kLongest{250};

struct Member {
  explicit Member(unsigned its_position) : position(its_position) {}

  unsigned position;
  long thread = syscall(SYS_gettid);
  std::atomic<std::uint64_t> calls{0};
  std::atomic<bool> left{false};
};

struct Group {
  std::deque<Member> members;  // complete, and constant, once `ready`
  std::atomic<bool> ready{false};
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
void wait_for(const HasCalled& has_called) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  for (int looks = 0; looks < kLooks && std::chrono::steady_clock::now() < end;) {
    bool can_call = false;
    for (const Member& other : group->members) {
      if (&other == own || other.left) continue;
      if (has_called(other)) return;
      can_call = can_call || !is_asleep(other);
    }
    looks = can_call ? 0 : looks + 1;
    sched_yield();
  }
}

}  // namespace host_turns

void join_turns(unsigned threads, unsigned position) {
  using namespace host_turns;
  {
    const std::lock_guard lock(joining);
    if (incomplete == nullptr) incomplete = std::make_shared<Group>();
    group = incomplete;
    own = &group->members.emplace_back(position);
    if (group->members.size() == threads) {
      group->ready = true;
      incomplete.reset();
    }
  }
  while (!group->ready) sched_yield();
  if (position > 0)
    wait_for([&](const Member& other) { return other.position < position && other.calls > 0; });
}

void leave_turns() {
  host_turns::own->left = true;
  host_turns::own = nullptr;
  host_turns::group.reset();
}

void give_turn() {
  using namespace host_turns;
  if (own == nullptr) return;
  const std::uint64_t calls = ++own->calls;
  wait_for([&](const Member& other) { return other.calls >= calls; });
}

}  // namespace opgate::simulator
