// The hook by which a program changes the PTX that the device reads.
#include "kernels/ptx_hook.h"

#include "fake_device.h"

namespace opgate::simulator::tests {
namespace ptx_hook_test {

std::string launched;

// The kernel stores 7 where it stored 5.
const char* replace(const char* ptx, std::size_t bytes) {
  static std::string other;
  other.assign(ptx, bytes);
  const std::size_t at = other.find(", 5;");
  if (at == std::string::npos) return nullptr;
  other[at + 2] = '7';
  return other.c_str();
}

void note(const char* ptx, std::size_t bytes, const char* kernel) {
  const bool is_original = std::string(ptx, bytes).find(", 5;") != std::string::npos;
  launched = kernel + std::string(is_original ? " as it was" : " as it was not");
}

constexpr OpgateSimPtxHook kHook{&replace, &note};

TEST(SimulatedPtxHook, ChangesModulesThatAreLoadedAlready) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(1));
  const std::unique_ptr<Module> module =
      Module::parse(kernel_of("mov.u32 %r2, 5; st.global.u32 [%rd1], %r2;"));
  const auto stored = [&] {
    expect_no_fault(module->run(launch_of("k", {}, {1}, Arguments(memory)), device));
    return device.read<std::uint32_t>(memory).at(0);
  };
  EXPECT_EQ(stored(), 5u);
  set_ptx_hook(&kHook);
  EXPECT_EQ(stored(), 7u);
  EXPECT_EQ(launched, "k as it was");
  set_ptx_hook(nullptr);
  EXPECT_EQ(stored(), 5u);
}

}  // namespace ptx_hook_test
}  // namespace opgate::simulator::tests
