// Products of matrices: `mma` and `wmma` of one warp, and `wgmma` of four, interpreted and compiled. The rate
// is that of the operations on numbers, two for each product of two elements.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/module.h"

namespace opgate::simulator::tests {
namespace matrix_benchmark {

constexpr int kTurns = 1000;  // of the loop in each kernel, so that what comes before it takes little time

class NoMemory final : public DeviceMemory {
 public:
  void* translate(std::uint64_t, std::size_t, Access, std::size_t&, std::string& why) override {
    why = "there is none";
    return nullptr;
  }
  Allocated allocation_of(std::uint64_t) override { return {}; }
};

struct Product {
  std::string instruction;
  unsigned threads;
  double operations;  // in one execution
};

std::string registers(const std::string& name, int count, int first = 0) {
  std::string list;
  for (int i = first; i < first + count; ++i) list += (i == first ? "" : ", ") + name + std::to_string(i);
  return list;
}

std::string kernel_of(const std::string& body) {
  std::string ptx =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<4>; .reg .b32 "
      "%r<20>; "
      ".reg .b32 %a<8>; .reg .b32 %d<128>; .reg .b64 %rd<4>; .shared .align 1024 .b8 s[32768];\n"
      "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, 0, 0; mad.lo.u32 %r2, %r1, 2654435761, 12345;\n"
      "and.b32 %r2, %r2, 0xbfbfbfbf; or.b32 %r2, %r2, 0x20202020; mov.u32 %r4, s; shl.b32 %r5, %r1, 2; "
      "add.u32 %r4, "
      "%r4, %r5; mov.u32 %r3, 0;\n"
      "fill: st.shared.b32 [%r4], %r2; add.u32 %r4, %r4, 512; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 64; "
      "@%p2 bra fill;\nmov.u32 %r3, 0;\n";
  // Rows of 128 bytes, swizzled.
  constexpr std::uint64_t kOfA = std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32;
  ptx += "mov.b64 %rd1, " + std::to_string(kOfA) + "; mov.b64 %rd2, " + std::to_string(kOfA + (16384 >> 4)) +
         ";\n";
  for (int i = 0; i < 8; ++i) ptx += "mov.b32 %a" + std::to_string(i) + ", %r2;\n";
  for (int i = 0; i < 128; ++i) ptx += "mov.b32 %d" + std::to_string(i) + ", 0;\n";
  return ptx + "bar.sync 0;\nagain: " + body + "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, " +
         std::to_string(kTurns) + "; @%p2 bra again;\nret;\n}\n";
}

// 64 x 128 x k, of which each warp computes a quarter.
Product wgmma(const std::string& type, const std::string& sum, unsigned k) {
  const int sums = sum == "f16" ? 32 : 64;
  const std::string signs = sum == "s32" ? "" : ", 1, 1";
  const std::string orders = k == 16 ? ", 0, 0" : "";
  return {"wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n128k" + std::to_string(k) + "." + sum +
              "." + type + "." + type + " {" + registers("%d", sums) + "}, %rd1, %rd2, %p1" + signs + orders +
              ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
          128, 2.0 * 64 * 128 * k};
}

// So many products in a turn of the loop, each with sums of its own, as compilers unroll the loops of
// kernels.
constexpr int kUnrolled = 4;

struct Registers {
  int a;
  int b;
  int sums;
};

Product products_of_warp(const std::string& opcode, const Registers& counts, double operations,
                         int products) {
  std::string body;
  for (int i = 0; i < products; ++i) {
    const std::string sums = "{" + registers("%d", counts.sums, i * counts.sums) + "}";
    body += opcode + " " + sums + ", {" + registers("%a", counts.a) + "}, {" + registers("%a", counts.b) +
            "}, " + sums + ";\n";
  }
  return {body, 32, operations * products};
}

// 16 x 8 x k
Product mma(const std::string& type, const std::string& sum, unsigned k, int products = kUnrolled) {
  const int bits = type == "tf32" ? 32 : type == "f16" || type == "bf16" ? 16 : 8;
  const int of_a = static_cast<int>(k) * bits / 64;
  return products_of_warp(
      "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + sum + "." + type + "." + type + "." + sum,
      {of_a, of_a / 2, sum == "f16" ? 2 : 4}, 2.0 * 16 * 8 * k, products);
}

// 16 x 16 x k, with as many registers of `a` as of `b`
Product wmma(const std::string& types, unsigned k, int factors, int sums) {
  return products_of_warp("wmma.mma.sync.aligned.row.col.m16n16k" + std::to_string(k) + "." + types,
                          {factors, factors, sums}, 2.0 * 16 * 16 * k, kUnrolled);
}

void run(benchmark::State& state, const Product& product, CompilationSettings::When when) {
  NoMemory memory;
  const std::unique_ptr<Module> module = Module::parse(kernel_of(product.instruction));
  CompilationSettings settings;
  settings.when = when;
  module->set_compilation(settings);
  Launch launch;
  launch.kernel = "k";
  launch.block = {product.threads};
  module->run(launch, memory);
  double operations = 0;
  for (auto _ : state) {
    const Outcome outcome = module->run(launch, memory);
    if (outcome.fault != Fault::none) {
      state.SkipWithError(outcome.message.c_str());
      break;
    }
    operations += product.operations * kTurns;
  }
  state.counters["operations"] = benchmark::Counter(operations, benchmark::Counter::kIsRate);
}

#define OPGATE_BOTH_WAYS(name, product)                                                 \
  BENCHMARK_CAPTURE(run, name##_interpreted, product, CompilationSettings::When::never) \
      ->Unit(benchmark::kMillisecond);                                                  \
  BENCHMARK_CAPTURE(run, name##_compiled, product, CompilationSettings::When::always)   \
      ->Unit(benchmark::kMillisecond)

OPGATE_BOTH_WAYS(mma_f16, mma("f16", "f32", 16));
OPGATE_BOTH_WAYS(mma_f16_not_unrolled, mma("f16", "f32", 16, 1));
OPGATE_BOTH_WAYS(mma_f16_in_halves, mma("f16", "f16", 16));
OPGATE_BOTH_WAYS(mma_f16_short, mma("f16", "f32", 8));
OPGATE_BOTH_WAYS(mma_bf16, mma("bf16", "f32", 16));
OPGATE_BOTH_WAYS(mma_tf32, mma("tf32", "f32", 8));
OPGATE_BOTH_WAYS(mma_tf32_not_unrolled, mma("tf32", "f32", 8, 1));
OPGATE_BOTH_WAYS(mma_tf32_short, mma("tf32", "f32", 4));
OPGATE_BOTH_WAYS(mma_e4m3, mma("e4m3", "f32", 32));
OPGATE_BOTH_WAYS(mma_e5m2, mma("e5m2", "f32", 32));
OPGATE_BOTH_WAYS(mma_e4m3_in_halves, mma("e4m3", "f16", 32));
OPGATE_BOTH_WAYS(mma_s8, mma("s8", "s32", 32));
OPGATE_BOTH_WAYS(mma_u8_short, mma("u8", "s32", 16));
OPGATE_BOTH_WAYS(wmma_f16, wmma("f32.f32", 16, 8, 8));
OPGATE_BOTH_WAYS(wmma_f16_in_halves, wmma("f16.f16", 16, 8, 4));
OPGATE_BOTH_WAYS(wmma_bf16, wmma("f32.bf16.bf16.f32", 16, 4, 8));
OPGATE_BOTH_WAYS(wmma_tf32, wmma("f32.tf32.tf32.f32", 8, 4, 8));
OPGATE_BOTH_WAYS(wmma_s8, wmma("s32.s8.s8.s32", 16, 2, 8));
OPGATE_BOTH_WAYS(wgmma_f16, wgmma("f16", "f32", 16));
OPGATE_BOTH_WAYS(wgmma_f16_in_halves, wgmma("f16", "f16", 16));
OPGATE_BOTH_WAYS(wgmma_bf16, wgmma("bf16", "f32", 16));
OPGATE_BOTH_WAYS(wgmma_tf32, wgmma("tf32", "f32", 8));
OPGATE_BOTH_WAYS(wgmma_e4m3, wgmma("e4m3", "f32", 32));
OPGATE_BOTH_WAYS(wgmma_e4m3_in_halves, wgmma("e4m3", "f16", 32));
OPGATE_BOTH_WAYS(wgmma_s8, wgmma("s8", "s32", 32));

#undef OPGATE_BOTH_WAYS

}  // namespace matrix_benchmark
}  // namespace opgate::simulator::tests
