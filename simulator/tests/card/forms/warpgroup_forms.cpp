// wgmma: each shape of numbers, and each way in which its factors lie in shared memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>

#include "card/forms/kernel_form.h"
#include "card/matrix_numbers.h"

namespace opgate::card {
namespace {

constexpr unsigned kBlocks = 4;
constexpr unsigned kThreads = 128;
constexpr unsigned kRegistersOfA = 4;
constexpr unsigned kFactorBytes = 16384;  // of shared memory, for each of the two

enum class Swizzle { none, bytes_128, bytes_64, bytes_32 };  // as descriptors have them
constexpr std::array<unsigned, 4> kRowBytes{16, 128, 64, 32};

struct Product {
  unsigned n;
  unsigned k;
  std::string d, a, b;
  std::string words = {};  // after the types
  bool a_in_registers = false;
  bool adds = true;
  bool negates_a = false;
  bool negates_b = false;
  // Whether the elements of the other side than k lie side by side.
  bool turns_a = false;
  bool turns_b = false;
  Swizzle swizzle = Swizzle::none;
  unsigned start = 0;  // of both factors, within a row of the pattern

  unsigned sums() const { return n / (d == "f16" ? 4 : 2); }
  bool is_of_integers() const { return d == "s32"; }
  std::size_t block_bytes() const {
    return 2 * std::size_t{kFactorBytes} + std::size_t{kThreads} * 4 * (kRegistersOfA + sums());
  }

  std::string opcode() const {
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k) + "." + d + "." +
           a + "." + b + words;
  }

  std::string text() const {
    static const std::array<const char*, 4> kNames{"", ", rows of 128 bytes", ", rows of 64 bytes",
                                                   ", rows of 32 bytes"};
    std::string text = opcode() + (a_in_registers ? ", a in registers" : "");
    text += kNames.at(static_cast<std::size_t>(swizzle));
    if (!adds) text += ", without sums";
    if (negates_a) text += ", -a";
    if (negates_b) text += ", -b";
    if (turns_a) text += ", a by columns";
    if (turns_b) text += ", b by rows";
    return text + (start == 0 ? "" : ", from byte " + std::to_string(start));
  }
};

// What a descriptor has besides its start.
std::uint64_t descriptor_of(const Product& product, bool is_turned) {
  const unsigned row = kRowBytes.at(static_cast<std::size_t>(product.swizzle));
  const bool swizzled = product.swizzle != Swizzle::none;
  // Eight rows follow each other. What comes next along the row, if anything does, is farther away.
  std::uint64_t leading = swizzled ? 1024 : 128;
  std::uint64_t stride = swizzled ? 8 * row : 256;
  if (is_turned) leading = swizzled ? 2 * std::uint64_t{8} * row : 128;
  if (is_turned && !swizzled) stride = 512;
  return leading >> 4 << 16 | stride >> 4 << 32 | static_cast<std::uint64_t>(product.swizzle) << 62;
}

std::string list_of(const std::string& name, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list + "}";
}

// Transfers of registers that follow each other in the global memory at %rd4.
std::string transfers(const std::string& before, const std::string& after, const std::string& name,
                      unsigned count, unsigned from) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const std::string at = "[%rd4+" + std::to_string(4 * (from + i)) + "]";
    const std::string value = name + std::to_string(i);
    text += before.empty() ? after + at + ", " + value + ";\n" : before + value + ", " + at + ";\n";
  }
  return text;
}

std::string instruction_of(const Product& product) {
  std::string text = product.opcode() + " " + list_of("%d", product.sums()) + ", " +
                     (product.a_in_registers ? list_of("%a", kRegistersOfA) : "%rd5") + ", %rd6, %p1";
  const auto sign = [](bool negates) { return std::string(negates ? ", -1" : ", 1"); };
  if (!product.is_of_integers()) text += sign(product.negates_a) + sign(product.negates_b);
  if (bits_of_type(product.a) == 16) {
    if (!product.a_in_registers) text += product.turns_a ? ", 1" : ", 0";
    text += product.turns_b ? ", 1" : ", 0";
  }
  return text + ";\n";
}

std::string kernel_of(const Product& product) {
  const auto set_descriptor = [&](const std::string& name, unsigned offset, bool is_turned) {
    return "add.u32 %r4, %r2, " + std::to_string(offset + product.start) +
           "; and.b32 %r4, %r4, 0x3ffff; shr.u32 %r4, %r4, 4; cvt.u64.u32 " + name + ", %r4; or.b64 " + name +
           ", " + name + ", " + std::to_string(descriptor_of(product, is_turned)) + ";\n";
  };
  const unsigned registers = kRegistersOfA + product.sums();
  return ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pointer) {\n"
         ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b32 %a<5>; .reg .b32 %d<129>;\n"
         ".shared .align 1024 .b8 factors[" +
         std::to_string(2 * kFactorBytes) +
         "];\nld.param.u64 %rd1, [pointer]; mov.u32 %r1, %tid.x; mov.u32 %r2, factors;\n"
         "mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd2, %r3, " +
         std::to_string(product.block_bytes()) +
         "; add.u64 %rd2, %rd2, %rd1;\nshl.b32 %r5, %r1, 2;\n"
         "copy: cvt.u64.u32 %rd3, %r5; add.u64 %rd3, %rd3, %rd2; ld.global.u32 %r6, [%rd3];\n"
         "add.u32 %r7, %r2, %r5; st.shared.u32 [%r7], %r6; add.u32 %r5, %r5, 512;\nsetp.lt.u32 %p2, %r5, " +
         std::to_string(2 * kFactorBytes) + "; @%p2 bra copy;\nmul.wide.u32 %rd4, %r1, " +
         std::to_string(4 * registers) + "; add.u64 %rd4, %rd4, %rd2; add.u64 %rd4, %rd4, " +
         std::to_string(2 * kFactorBytes) + ";\n" + set_descriptor("%rd5", 0, product.turns_a) +
         set_descriptor("%rd6", kFactorBytes, product.turns_b) +
         transfers("ld.global.b32 ", "", "%a", kRegistersOfA, 0) +
         transfers("ld.global.b32 ", "", "%d", product.sums(), kRegistersOfA) + "setp." +
         (product.adds ? "eq" : "ne") +
         ".u32 %p1, 0, 0;\nfence.proxy.async; bar.sync 0;\nwgmma.fence.sync.aligned;\n" +
         instruction_of(product) + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
         transfers("", "st.global.b32 ", "%d", product.sums(), kRegistersOfA) + "ret;\n}\n";
}

Work work_of(const Product& product, Numbers numbers) {
  Work work;
  work.ptx = kernel_of(product);
  work.blocks = kBlocks;
  work.threads = kThreads;
  work.memory.resize(kBlocks * product.block_bytes());
  const std::string text = product.text();
  std::seed_seq seed(text.begin(), text.end());
  std::mt19937_64 random(seed);
  const auto fill = [&](std::size_t from, std::size_t bytes, const std::string& type, bool is_factor) {
    const std::size_t size = bits_of_type(type) / 8;
    for (std::size_t at = 0; at < bytes; at += size) {
      const std::uint64_t bits = element_bits(type, is_factor, numbers, random);
      std::memcpy(&work.memory[from + at], &bits, size);
    }
  };
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::size_t begin = block * product.block_bytes();
    fill(begin, kFactorBytes, product.a, true);
    fill(begin + kFactorBytes, kFactorBytes, product.b, true);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const std::size_t of_thread =
          begin + 2 * std::size_t{kFactorBytes} + std::size_t{thread} * 4 * (kRegistersOfA + product.sums());
      fill(of_thread, std::size_t{4} * kRegistersOfA, product.a, true);
      fill(of_thread + std::size_t{4} * kRegistersOfA, std::size_t{4} * product.sums(), product.d, false);
    }
  }
  return work;
}

std::vector<Product> products_of_all_types(unsigned n) {
  std::vector<Product> products{{n, 16, "f32", "f16", "f16"},
                                {n, 16, "f16", "f16", "f16"},
                                {n, 16, "f32", "bf16", "bf16"},
                                {n, 8, "f32", "tf32", "tf32"}};
  for (const std::string a : {"e4m3", "e5m2"}) {
    for (const std::string b : {"e4m3", "e5m2"}) {
      for (const std::string d : {"f32", "f16"}) products.push_back({n, 32, d, a, b});
    }
  }
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"}) {
      for (const std::string words : {"", ".satfinite"}) products.push_back({n, 32, "s32", a, b, words});
    }
  }
  return products;
}

class Forms {
 public:
  std::vector<KernelForm> take() { return std::move(forms_); }

  void add(const Product& product, Numbers numbers) {
    const std::string text = product.text() + " of " + name_of(numbers) + " numbers";
    if (!texts_.insert(text).second) return;  // also one of the layouts
    forms_.push_back({"products of warpgroups, " + name_of(numbers) + " numbers", text,
                      [product, numbers] { return work_of(product, numbers); }});
  }

 private:
  static std::string name_of(Numbers numbers) {
    static const std::array<const char*, 3> kNames{"integer", "any", "special"};
    return kNames.at(static_cast<std::size_t>(numbers));
  }

  std::vector<KernelForm> forms_;
  std::set<std::string> texts_;
};

void add_layouts(Forms& forms) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64, Swizzle::bytes_32}) {
    for (Product product : {Product{128, 16, "f32", "f16", "f16"}, Product{64, 8, "f32", "tf32", "tf32"},
                            Product{96, 32, "f32", "e4m3", "e5m2"}}) {
      product.swizzle = swizzle;
      const unsigned row = kRowBytes.at(static_cast<std::size_t>(swizzle));
      for (product.start = 0; product.start < std::max(row, 32u); product.start += 32)
        forms.add(product, Numbers::integers);
      product.start = 0;
      if (bits_of_type(product.a) != 16) continue;
      for (const unsigned turned : {1u, 2u, 3u}) {
        product.turns_a = (turned & 1) != 0;
        product.turns_b = (turned & 2) != 0;
        forms.add(product, Numbers::integers);
      }
    }
  }
}

}  // namespace

std::vector<KernelForm> warpgroup_forms() {
  Forms forms;
  for (const unsigned n : {8u, 64u}) {
    for (Product product : products_of_all_types(n)) {
      for (const bool a_in_registers : {false, true}) {
        product.a_in_registers = a_in_registers;
        for (const Numbers numbers : {Numbers::integers, Numbers::any, Numbers::special})
          forms.add(product, numbers);
      }
    }
  }
  for (const unsigned n : {16u, 24u, 40u, 104u, 192u, 256u})
    forms.add({n, 16, "f32", "f16", "f16"}, Numbers::integers);
  for (Product product : {Product{16, 16, "f32", "f16", "f16"}, Product{16, 8, "f32", "tf32", "tf32"},
                          Product{16, 32, "f16", "e5m2", "e4m3"}}) {
    for (const unsigned which : {1u, 2u, 3u}) {
      product.negates_a = (which & 1) != 0;
      product.negates_b = (which & 2) != 0;
      forms.add(product, Numbers::special);
    }
    product.adds = false;
    forms.add(product, Numbers::special);
  }
  add_layouts(forms);
  return forms.take();
}

}  // namespace opgate::card
