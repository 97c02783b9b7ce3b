#include "kernels/ptx_hook.h"

#include <atomic>

namespace opgate::simulator {
namespace ptx_hook {

std::atomic<const OpgateSimPtxHook*> hook{nullptr};
std::atomic<unsigned> number{0};

}  // namespace ptx_hook

void set_ptx_hook(const OpgateSimPtxHook* hook) {
  ptx_hook::hook = hook;
  ++ptx_hook::number;
}

unsigned ptx_hook_number() { return ptx_hook::number; }

std::string replaced_ptx(const std::string& ptx) {
  const OpgateSimPtxHook* const hook = ptx_hook::hook;
  const char* const other = hook == nullptr ? nullptr : hook->replace(ptx.data(), ptx.size());
  return other == nullptr ? ptx : other;
}

void report_launch_of_ptx(const std::string& ptx, const std::string& kernel) {
  const OpgateSimPtxHook* const hook = ptx_hook::hook;
  if (hook != nullptr) hook->launched(ptx.data(), ptx.size(), kernel.c_str());
}

}  // namespace opgate::simulator
