#include "runtime/memory/host_fault.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "runtime/findings/report.h"

namespace opgate::simulator {
namespace host_fault {

// The host gets access to so much at once, a multiple of the pages of any machine, and at most so often.
constexpr std::uint64_t kWindow = 1 << 16;
constexpr int kMostWindows = 1 << 14;

const AddressRange* watched = nullptr;
struct sigaction former {};
std::atomic<bool> survives{false};
std::atomic<bool> has_fault{false};
std::atomic<std::uint64_t> first_address{0};
std::atomic<std::uint64_t> first_instruction{0};
std::atomic<int> windows{0};

std::uint64_t instruction_of([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

// Lets the instruction that faulted go on. Only functions that a handler of a signal may call.
bool open_window(std::uint64_t address, void* context) {
  if (!survives || windows++ >= kMostWindows) return false;
  const std::uint64_t begin = address / kWindow * kWindow;
  if (mprotect(reinterpret_cast<void*>(begin), kWindow, PROT_READ | PROT_WRITE) != 0) return false;
  if (!has_fault.exchange(true)) {
    first_instruction = instruction_of(context);
    first_address = address;
  }
  return true;
}

void describe(char* line, std::size_t bytes, std::uint64_t address) {
  std::snprintf(line, bytes, "the host dereferences device memory: the address %p of device %d",
                reinterpret_cast<void*>(address), watched->device_of(address));
}

// The former handler is restored, and the instruction that faulted runs again into it: a debugger or a crash
// handler of the program then sees the fault as if this handler did not exist.
void on_fault(int /*signal*/, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (watched->holds(address)) {
    if (open_window(address, context)) return;
    std::array<char, 160> line{};
    describe(line.data(), line.size(), address);
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

void survive_host_faults() { host_fault::survives = true; }

std::optional<Finding> take_host_fault() {
  using namespace host_fault;
  const std::uint64_t address = first_address.exchange(0);
  if (address == 0) return std::nullopt;
  void* const begin = reinterpret_cast<void*>(watched->begin());
  madvise(begin, watched->bytes(), MADV_DONTNEED);
  mprotect(begin, watched->bytes(), PROT_NONE);
  windows = 0;
  has_fault = false;
  std::array<char, 160> line{};
  describe(line.data(), line.size(), address);
  Finding fault{.kind = Finding::Kind::memory, .message = line.data()};
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(first_instruction.load()), &where) != 0) {
    if (where.dli_sname != nullptr) fault.kernel = readable_name(where.dli_sname);
    if (where.dli_fname != nullptr) fault.place.location = std::filesystem::path(where.dli_fname).filename();
  }
  if (fault.kernel.empty() && !fault.place.location.empty()) fault.kernel = "a function";
  return fault;
}

}  // namespace opgate::simulator
