#include "process/interrupt.h"

#include <csignal>

namespace opgate {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int) { received = 1; }

}  // namespace

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return received != 0; }

}  // namespace opgate
