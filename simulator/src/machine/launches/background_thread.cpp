#include "machine/launches/background_thread.h"

#include <signal.h>

#include <utility>

namespace opgate::simulator {
namespace {

// A thread has the mask of the one that begins it.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int caused : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&blocked, caused);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::thread begin_background_thread(std::function<void()> work) {
  const BlockedSignals blocked;
  return std::thread(std::move(work));
}

}  // namespace opgate::simulator
