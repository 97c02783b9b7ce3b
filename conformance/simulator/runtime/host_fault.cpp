#include "simulator/runtime/host_fault.h"

#include <signal.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "simulator/runtime/report.h"

namespace opgate::simulator {
namespace host_fault {

const AddressRange* watched = nullptr;
struct sigaction former {};

// The former handler is restored, and the instruction that faulted runs again into it: a debugger or a crash handler of the
// program then sees the fault as if this handler did not exist.
void on_fault(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (watched->holds(address)) {
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(),
                  "the host dereferences device memory: the address %p of device %d", info->si_addr,
                  watched->device_of(address));
    report_fault_of_host(line.data());
  }
  sigaction(SIGSEGV, &former, nullptr);
}

}  // namespace host_fault

void report_host_faults(const AddressRange& range) {
  host_fault::watched = &range;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = &host_fault::on_fault;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &host_fault::former);
}

}  // namespace opgate::simulator
