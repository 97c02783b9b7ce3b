#include "process/limits.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "base/errors.h"

namespace opgate {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name this architecture's AUDIT_ARCH here"
#endif

constexpr double kGiB = 1 << 30;

constexpr sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
constexpr sock_filter answer(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

// Compares the loaded value with `value`, and skips `if_true` or `if_false` statements.
constexpr sock_filter jump(uint16_t comparison, uint32_t value, uint8_t if_true, uint8_t if_false) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | comparison | BPF_K), value, if_true, if_false);
}

// Skips the next statement unless the loaded value is `value`.
constexpr sock_filter only_if(uint32_t value) { return jump(BPF_JEQ, value, 0, 1); }

constexpr uint32_t fails_with(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

}  // namespace

Limits default_limits() {
  return {.memory =
              static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))};
}

void limit_memory(uint64_t bytes) {
  // RLIMIT_AS would be wrong: torch, CUDA and inputs with very large strides map far more address space
  // than they use.
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) {
    throw setup_error("cannot limit memory to {} bytes: {}", bytes, std::strerror(errno));
  }
}

void forbid_processes() {
  const sock_filter filter[] = {
      load(offsetof(seccomp_data, arch)),
      jump(BPF_JEQ, kArchitecture, 1, 0),
      answer(SECCOMP_RET_ALLOW),  // another architecture has other numbers; operators do not use them
      load(offsetof(seccomp_data, nr)),
#ifdef __NR_fork
      only_if(__NR_fork),
      answer(fails_with(EAGAIN)),
      only_if(__NR_vfork),
      answer(fails_with(EAGAIN)),
#endif
      // A filter cannot look into clone3's arguments, which are in memory; without clone3, glibc uses
      // clone.
      only_if(__NR_clone3),
      answer(fails_with(ENOSYS)),
      jump(BPF_JEQ, __NR_clone, 1, 0),
      answer(SECCOMP_RET_ALLOW),
      load(offsetof(seccomp_data, args)),  // clone's flags are in the low half of the first argument
      jump(BPF_JSET, CLONE_THREAD, 0, 1),
      answer(SECCOMP_RET_ALLOW),
      answer(fails_with(EAGAIN)),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), const_cast<sock_filter*>(filter)};
  // TSYNC applies the filter to all threads: libraries may have started some while they were loaded.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    throw setup_error(
        "cannot keep operators from starting processes: {}; OpGate needs a kernel with seccomp filters",
        std::strerror(errno));
  }
}

std::string memory_note(std::string_view said, uint64_t bytes) {
  for (const std::string_view words : {"bad_alloc", "annot allocate memory", "can't allocate memory"}) {
    if (said.find(words) == std::string_view::npos) continue;
    return fmt::format("the worker was at its memory limit of {:.1f} GiB (--memory-limit)",
                       static_cast<double>(bytes) / kGiB);
  }
  return "";
}

}  // namespace opgate
