#include "crashes/interrupted_frames.h"

#include <execinfo.h>

#include <algorithm>
#include <array>

namespace opgate {
namespace {

uintptr_t interrupted_at(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(context.uc_mcontext.pc);
#else
#error "OpGate does not know where this processor keeps the program counter"
#endif
}

}  // namespace

void prepare_interrupted_frames() {
  std::array<void*, 1> loaded;
  backtrace(loaded.data(), 1);  // loads libgcc
}

size_t interrupted_frames(const ucontext_t& context, std::span<uintptr_t> addresses) {
  if (addresses.empty()) return 0;
  std::array<void*, kMostFrames> frames;
  const auto count = static_cast<size_t>(backtrace(frames.data(), kMostFrames));
  const uintptr_t at = interrupted_at(context);
  const auto end = frames.begin() + static_cast<ptrdiff_t>(count);
  auto frame = std::find(frames.begin(), end, reinterpret_cast<void*>(at));
  // A jump to an address without code leaves no frame of its own: its caller follows the handler and the
  // trampoline.
  frame = frame == end ? frames.begin() + static_cast<ptrdiff_t>(std::min<size_t>(2, count)) : frame + 1;
  size_t filled = 0;
  addresses[filled++] = at;
  for (; frame < end && filled < addresses.size(); ++frame)
    addresses[filled++] = reinterpret_cast<uintptr_t>(*frame);
  return filled;
}

}  // namespace opgate
