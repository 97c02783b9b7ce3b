#include "crashes/resumed_faults.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "crashes/interrupted_frames.h"

namespace opgate {
namespace {

// The state of the one object, where a signal handler can read it.
std::byte* region = nullptr;
size_t region_bytes = 0;
size_t page = 0;
struct sigaction handler_before {};
std::array<uintptr_t, kMostFrames> frames_of_first;
std::atomic<size_t> frames_noted{0};
std::atomic_flag has_faulted;

// Where the region does not hold the address, the fault is that of the handler before. One that is not called
// with the context is restored, and the instruction that faulted runs again into it.
void on_fault(int number, siginfo_t* info, void* context) {
  auto* const address = static_cast<std::byte*>(info->si_addr);
  if (address >= region && address < region + region_bytes) {
    std::byte* const begin = region + (address - region) / static_cast<ptrdiff_t>(page) * page;
    if (mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) {
      if (!has_faulted.test_and_set())
        frames_noted = interrupted_frames(*static_cast<const ucontext_t*>(context), frames_of_first);
      return;
    }
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(number, info, context);
  } else {
    sigaction(SIGSEGV, &handler_before, nullptr);
  }
}

}  // namespace

ResumedFaults::ResumedFaults(std::byte* begin, size_t bytes) {
  prepare_interrupted_frames();
  region = begin;
  region_bytes = bytes;
  page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  frames_noted = 0;
  has_faulted.clear();
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &handler_before);
}

ResumedFaults::~ResumedFaults() {
  mprotect(region, region_bytes,
           PROT_READ | PROT_WRITE);  // the operator may keep the tensor, and use it later
  sigaction(SIGSEGV, &handler_before, nullptr);
  region_bytes = 0;
}

bool ResumedFaults::has_any() const { return frames_noted > 0; }

std::vector<StackFrame> ResumedFaults::first() const {
  return CrashStack(std::span(frames_of_first).first(frames_noted)).operator_frames();
}

}  // namespace opgate
