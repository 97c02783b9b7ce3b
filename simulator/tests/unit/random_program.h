// Kernels of instructions that are drawn by chance.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fake_memory.h"

namespace opgate::simulator::tests {

/// A program of random instructions in a loop, over registers that all instructions of one width share. What
/// it computes has no meaning; every NaN, subnormal number and overflow comes up. Each thread reads 128 bytes
/// at the pointer, and writes its results there.
class RandomProgram {
 public:
  /// defined: those whose results PTX defines to the last bit. Which NaN neg and abs give, and which payload
  /// of a NaN in double precision stays, depends on what ptxas makes of the instructions around them: then
  /// NaN is the same in all of memory, and nothing else shows its bits.
  enum class Instructions : bool { all, defined };
  static constexpr int kLength = 120;
  static constexpr int kRounds = 12;

  explicit RandomProgram(unsigned seed, Instructions from = Instructions::all) : from_(from), random_(seed) {
    while (instructions_.size() < kLength) {
      std::string drawn = instruction();
      if (from == Instructions::all || is_defined(drawn)) instructions_.push_back(std::move(drawn));
    }
  }

  const std::vector<std::string>& instructions() const { return instructions_; }

  /// The whole program, or one that ends earlier.
  std::string text(int length = kLength, int rounds = kRounds) const {
    std::string body =
        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 64, %r1; mul.wide.u32 %rd2, %r2, 128; "
        "add.u64 %rd2, %rd1, %rd2;\n";
    for (int i = 10; i < 18; ++i) {
      const std::string n = std::to_string(i);
      const std::string offset = std::to_string((i - 10) * 16);
      body += "ld.global.u32 %r" + n + ", [%rd2+" + offset + "]; mov.b32 %f" + n + ", %r" + n + ";\n" +
              "ld.global.u64 %rd" + n + ", [%rd2+" + offset + "]; mov.b64 %fd" + n + ", %rd" + n + ";\n" +
              "ld.global.u16 %h" + n + ", [%rd2+" + offset + "]; setp.gt.s32 %p" + n + ", %r" + n + ", 0;\n";
    }
    body += "mov.u32 %r3, 0;\nagain:\n";
    for (int i = 0; i < length; ++i) body += instructions_[static_cast<std::size_t>(i)];
    body += "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, " + std::to_string(rounds) + "; @%p1 bra again;\n";
    for (int i = 10; i < 18; ++i) {
      const std::string n = std::to_string(i);
      const std::string at = "[%rd2+" + std::to_string((i - 10) * 16);
      if (from_ == Instructions::defined)
        body += "testp.notanumber.f64 %p2, %fd" + n + "; @%p2 mov.f64 %fd" + n + ", 0d7FF8000000000000;\n";
      body += "mov.b64 %rd3, %fd" + n + "; xor.b64 %rd3, %rd3, %rd" + n + "; st.global.u64 " + at +
              "], %rd3;\n" + "mov.b32 %r4, %f" + n + "; xor.b32 %r4, %r4, %r" + n + "; st.global.u32 " + at +
              "+8], %r4;\n" + "selp.b32 %r4, 1, 0, %p" + n + "; st.global.u16 " + at + "+12], %h" + n +
              "; st.global.u8 " + at + "+14], %r4;\n";
    }
    return kernel_of(body);
  }

 private:
  static bool is_defined(const std::string& instruction) {
    for (const char* const open : {".approx", "neg.f", "abs.f", "cvt.rn.f16.f64", "mov.b64 %rd"}) {
      if (instruction.find(open) != std::string::npos) return false;
    }
    return true;
  }

  std::string any(const char* kind) { return kind + std::to_string(10 + random_() % 8); }

  // Letters stand for a random register: R 32 bits, D 64 bits, F and G floating-point numbers, H 16 bits, P a
  // predicate.
  std::string instruction() {
    static const char* const kTexts[] = {"add.s32 R, R, R",
                                         "sub.u32 R, R, R",
                                         "mul.lo.s32 R, R, R",
                                         "mul.hi.u32 R, R, R",
                                         "mul.hi.s32 R, R, R",
                                         "mad.lo.u32 R, R, R, R",
                                         "mul.wide.s32 D, R, R",
                                         "mad.wide.u32 D, R, R, D",
                                         "div.s32 R, R, R",
                                         "rem.u32 R, R, R",
                                         "div.u64 D, D, D",
                                         "rem.s64 D, D, D",
                                         "abs.s32 R, R",
                                         "neg.s64 D, D",
                                         "min.s32 R, R, R",
                                         "max.u64 D, D, D",
                                         "add.s64 D, D, D",
                                         "mul.hi.s64 D, D, D",
                                         "mad.lo.s64 D, D, D, D",
                                         "add.s16 H, H, H",
                                         "mul.lo.u16 H, H, H",
                                         "and.b32 R, R, R",
                                         "or.b64 D, D, D",
                                         "xor.b16 H, H, H",
                                         "not.b32 R, R",
                                         "shl.b32 R, R, R",
                                         "shl.b64 D, D, 13",
                                         "shr.s32 R, R, R",
                                         "shr.u64 D, D, 3",
                                         "shr.s16 H, H, 2",
                                         "popc.b64 R, D",
                                         "clz.b32 R, R",
                                         "bfe.s32 R, R, 5, 9",
                                         "bfe.u64 D, D, 40, 30",
                                         "bfi.b32 R, R, R, 7, 11",
                                         "brev.b32 R, R",
                                         "lop3.b32 R, R, R, R, 0xb4",
                                         "prmt.b32 R, R, R, 0x6b29",
                                         "prmt.b32 R, R, R, R",
                                         "shf.l.wrap.b32 R, R, R, R",
                                         "shf.r.clamp.b32 R, R, R, R",
                                         "add.rn.f32 F, F, F",
                                         "sub.rn.ftz.f32 F, F, F",
                                         "mul.rn.f32 F, F, F",
                                         "fma.rn.f32 F, F, F, F",
                                         "fma.rn.ftz.sat.f32 F, F, F, F",
                                         "div.rn.f32 F, F, F",
                                         "div.approx.f32 F, F, F",
                                         "add.rz.f32 F, F, F",
                                         "min.f32 F, F, F",
                                         "max.f32 F, F, F",
                                         "max.NaN.f32 F, F, F",
                                         "neg.f32 F, F",
                                         "abs.f32 F, F",
                                         "copysign.f32 F, F, F",
                                         "sqrt.rn.f32 F, F",
                                         "rcp.approx.ftz.f32 F, F",
                                         "rsqrt.approx.f32 F, F",
                                         "ex2.approx.ftz.f32 F, F",
                                         "lg2.approx.f32 F, F",
                                         "tanh.approx.f32 F, F",
                                         "sin.approx.f32 F, F",
                                         "add.rn.f64 G, G, G",
                                         "mul.rn.f64 G, G, G",
                                         "fma.rn.f64 G, G, G, G",
                                         "div.rn.f64 G, G, G",
                                         "min.f64 G, G, G",
                                         "neg.f64 G, G",
                                         "sqrt.rn.f64 G, G",
                                         "add.rn.f16 H, H, H",
                                         "mul.rn.f16 H, H, H",
                                         "sub.rn.f16x2 R, R, R",
                                         "fma.rn.f16x2 R, R, R, R",
                                         "setp.lt.f32 P, F, F",
                                         "setp.neu.f32 P, F, F",
                                         "setp.ne.f64 P, G, G",
                                         "setp.geu.ftz.f32 P, F, F",
                                         "setp.num.f32 P, F, F",
                                         "setp.lt.s32 P, R, R",
                                         "setp.hi.u64 P, D, D",
                                         "setp.eq.u16 P, H, H",
                                         "setp.gt.and.s32 P|P, R, R, P",
                                         "setp.lt.f16 P, H, H",
                                         "and.pred P, P, P",
                                         "xor.pred P, P, P",
                                         "not.pred P, P",
                                         "mov.pred P, P",
                                         "selp.b32 R, R, R, P",
                                         "selp.f32 F, F, F, P",
                                         "selp.f64 G, G, G, P",
                                         "selp.b16 H, H, H, P",
                                         "slct.f32.s32 F, F, F, R",
                                         "mov.f32 F, F",
                                         "mov.f32 F, 0f7FA00001",
                                         "mov.f64 G, G",
                                         "mov.b32 R, F",
                                         "mov.b32 F, R",
                                         "mov.b64 D, G",
                                         "mov.b64 G, D",
                                         "mov.b64 {R, R}, D",
                                         "mov.b64 D, {R, R}",
                                         "mov.b32 {H, H}, R",
                                         "mov.b32 R, {H, H}",
                                         "cvt.s64.s32 D, R",
                                         "cvt.u32.u64 R, D",
                                         "cvt.s32.s8 R, R",
                                         "cvt.u16.u32 H, R",
                                         "cvt.sat.s16.s32 H, R",
                                         "cvt.rn.f32.s32 F, R",
                                         "cvt.rn.f32.u64 F, D",
                                         "cvt.rn.f64.s64 G, D",
                                         "cvt.rz.f32.s64 F, D",
                                         "cvt.rzi.s32.f32 R, F",
                                         "cvt.rni.u64.f32 D, F",
                                         "cvt.rmi.s64.f64 D, G",
                                         "cvt.rpi.ftz.u16.f32 H, F",
                                         "cvt.rmi.f32.f32 F, F",
                                         "cvt.rzi.f64.f64 G, G",
                                         "cvt.f64.f32 G, F",
                                         "cvt.rm.f32.f64 F, G",
                                         "cvt.rpi.f16.f16 H, H",
                                         "cvt.rn.f32.f64 F, G",
                                         "cvt.sat.f32.f32 F, F",
                                         "cvt.rn.f16.f32 H, F",
                                         "cvt.f32.f16 F, H",
                                         "cvt.rn.bf16.f32 H, F",
                                         "cvt.f32.bf16 F, H",
                                         "cvt.rn.f16x2.f32 R, F, F",
                                         "cvt.rn.f16.f64 H, G",
                                         "add.cc.u32 R, R, R; addc.u32 R, R, R",
                                         "sub.cc.u32 R, R, R; subc.u32 R, R, R"};
    const std::string words = kTexts[random_() % std::size(kTexts)];
    const bool is_one = words.find(';') == std::string::npos;
    std::string text = is_one && random_() % 4 == 0
                           ? "@" + std::string(random_() % 2 == 0 ? "!" : "") + any("%p") + " "
                           : "";
    const std::size_t operands = words.find(' ');
    text += words.substr(0, operands);
    std::string before;  // the register that was named last
    for (std::size_t i = operands; i < words.size(); ++i) {
      const bool follows_number = words[i - 1] == 'x' || (words[i - 1] >= '0' && words[i - 1] <= '9');
      const std::string_view letters = "RDFGHP";
      const std::size_t kind = letters.find(words[i]);
      constexpr const char* kNames[] = {"%r", "%rd", "%f", "%fd", "%h", "%p"};
      if (kind == std::string_view::npos || follows_number) {
        text += words[i];
        continue;
      }
      // Either of two results in one register may stay.
      std::string name = any(kNames[kind]);
      while (name == before) name = any(kNames[kind]);
      text += before = name;
    }
    return text + ";\n";
  }

  Instructions from_;
  std::mt19937 random_;
  std::vector<std::string> instructions_;
};

}  // namespace opgate::simulator::tests
