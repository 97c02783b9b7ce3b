#include "aten/redirect.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace opgate::simulator::aten {
namespace {

// A jump to an address that follows in the code, by a register that no caller keeps a value in.
#if defined(__x86_64__)
constexpr std::array<std::uint8_t, 6> kJump{0xFF, 0x25, 0x00, 0x00, 0x00, 0x00};  // jmp *0(%rip)
#elif defined(__aarch64__)
constexpr std::array<std::uint8_t, 8> kJump{0x50, 0x00, 0x00, 0x58,
                                            0x00, 0x02, 0x1F, 0xD6};  // ldr x16, 8; br x16
#else
constexpr std::array<std::uint8_t, 0> kJump{};
#endif

constexpr std::size_t kBytes = kJump.size() + sizeof(void*);

}  // namespace

bool redirect(void* from, const void* to) {
  if (kJump.empty()) return false;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = begin / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  const std::size_t bytes = (begin + kBytes + page - 1) / page * page - first;
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  auto* const code = static_cast<std::uint8_t*>(from);
  std::memcpy(code, kJump.data(), kJump.size());
  std::memcpy(code + kJump.size(), &to, sizeof to);
  __builtin___clear_cache(reinterpret_cast<char*>(code), reinterpret_cast<char*>(code + kBytes));
  return mprotect(pages, bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace opgate::simulator::aten
