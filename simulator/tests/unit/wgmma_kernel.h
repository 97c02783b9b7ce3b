// Kernels that begin and end alike, for tests of `wgmma`.
#pragma once

#include <cstdint>
#include <string>

namespace opgate::simulator::tests {

constexpr unsigned kSharedBytes = 32768;  ///< for the matrices
constexpr int kMostSums = 128;            ///< registers of a thread

inline std::string registers(const std::string& name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list;
}

inline int registers_of_sums(const std::string& type, int columns) {
  return columns / (type == "f16" ? 4 : 2);
}

/// A kernel of 128 threads and two pointers. It fills the shared memory with the first bytes of its input,
/// and %a0 to %a3 with those after them, sets %d0 to %dN to `begin` and %p1 to true, and stores %d0 to %dN of
/// each thread after the body. %r3 is four times the index of the thread. `fence` orders the shared memory
/// for what reads it by way of descriptors.
inline std::string wgmma_kernel(int sums, std::uint32_t begin, const std::string& body,
                                const std::string& fence = "fence.proxy.async;\n") {
  const std::string count = std::to_string(kSharedBytes);
  std::string ptx =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b32 %a<4>; .reg .b32 %d<129>;\n"
      ".shared .align 1024 .b8 matrices[" +
      count + "];\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n" +
      "mov.u32 %r2, matrices; shl.b32 %r3, %r1, 2; cvt.u64.u32 %rd3, %r3; add.u64 %rd4, %rd1, %rd3;\n"
      "add.u32 %r2, %r2, %r3; mov.u32 %r4, %r3;\n"
      "copy: ld.global.u32 %r5, [%rd4]; st.shared.u32 [%r2], %r5;\n"
      "add.u64 %rd4, %rd4, 512; add.u32 %r2, %r2, 512; add.u32 %r4, %r4, 512;\n"
      "setp.lt.u32 %p2, %r4, " +
      count + "; @%p2 bra copy;\nmul.wide.u32 %rd5, %r1, 16; add.u64 %rd5, %rd5, %rd1;\n" +
      "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%rd5+" + count + "];\nsetp.eq.u32 %p1, 0, 0;\n";
  for (int i = 0; i < sums; ++i)
    ptx += "mov.b32 %d" + std::to_string(i) + ", " + std::to_string(begin) + ";\n";
  ptx += fence + "bar.sync 0;\n" + body + "mul.wide.u32 %rd6, %r1, " + std::to_string(kMostSums * 4) +
         "; add.u64 %rd6, %rd6, %rd2;\n";
  for (int i = 0; i < sums; ++i)
    ptx += "st.global.u32 [%rd6+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  return ptx + "ret;\n}\n";
}

}  // namespace opgate::simulator::tests
