// Reductions in bulk, st.async and red.async: the values that they leave, of one block.
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>

#include "card/forms/kernel_form.h"

namespace opgate::card {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kBytes = 1024;  // given, and as many at the place that they are reduced into

// The block whose shared memory is written, and the cluster that the blocks are of.
struct Receiver {
  std::string text;
  unsigned blocks;
  std::string directives;  // of the kernel
  std::string rank;        // of the receiver, from %r10: the rank of the sender
};

const Receiver kNoCluster{"", 1, "", ""};

// A card ends with an illegal instruction without a cluster.
const std::vector<Receiver> kReceivers{
    {", in a cluster of one", 1, ".explicitcluster .reqnctapercluster 1, 1, 1", ""},
    {", in a cluster of two, to itself", 2, ".explicitcluster .reqnctapercluster 2, 1, 1", ""},
    {", in a cluster of two, to the other", 2, ".explicitcluster .reqnctapercluster 2, 1, 1",
     "xor.b32 %r10, %r10, 1;\n"}};

std::string begin_of(const Receiver& receiver) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pointer) " +
         receiver.directives + " {\n" + R"PTX(.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
.shared .align 128 .b8 given[1024]; .shared .align 128 .b8 place[1024]; .shared .align 8 .b64 mbarrier;
ld.param.u64 %rd1, [pointer]; mov.u32 %r1, %tid.x; mov.u32 %r2, given; mov.u32 %r3, place;
mov.u32 %r4, mbarrier; setp.eq.u32 %p1, %r1, 0; shl.b32 %r5, %r1, 3; cvt.u64.u32 %rd2, %r5;
mov.u32 %r16, %ctaid.x; mul.wide.u32 %rd7, %r16, 2048; add.u64 %rd1, %rd1, %rd7;
add.u64 %rd3, %rd1, %rd2; add.u32 %r6, %r2, %r5; add.u32 %r7, %r3, %r5;
ld.global.u64 %rd4, [%rd3+1024]; st.shared.u64 [%r6], %rd4;
ld.global.u64 %rd5, [%rd3]; st.shared.u64 [%r7], %rd5; mov.u32 %r10, %cluster_ctarank;
)PTX" + receiver.rank +
         R"PTX(mapa.shared::cluster.u32 %r8, %r3, %r10; mapa.shared::cluster.u32 %r9, %r4, %r10;
add.u32 %r11, %r8, %r5;
@%p1 mbarrier.init.shared::cta.b64 [%r4], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;
barrier.cluster.arrive; barrier.cluster.wait;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
)PTX";
}

// A copy that never ends shows as missing values, and not as a kernel that never ends.
const std::string kWait =
    "mov.u32 %r15, 0;\nwait: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r4], 0; @%p2 bra "
    "done; add.u32 %r15, %r15, 1;\nsetp.lt.u32 %p4, %r15, 1000000; @%p4 bra wait;\ndone:\n";
const std::string kEnd = "bar.sync 0; ld.shared.u64 %rd6, [%r7]; st.global.u64 [%rd3+1024], %rd6;\nret;\n}\n";

Work work_of(const std::string& text, const std::string& body, const Receiver& receiver) {
  Work work;
  work.ptx = begin_of(receiver) + body + kEnd;
  work.threads = kThreads;
  work.blocks = work.cluster = receiver.blocks;
  work.memory.resize(std::size_t{2} * kBytes * receiver.blocks);
  // Zeros, subnormal numbers, ties, infinities and NaN of all types, on both sides in different places.
  static constexpr std::array<std::uint32_t, 24> kEdges{
      0x00000000, 0x80000000, 0x00000001, 0x7f800000, 0xff800000, 0x7fc00000, 0x00010001, 0x7c007c00,
      0x7ff00000, 0xfff80000, 0xffffffff, 0x7fffffff, 0x3c003c00, 0x3f800000, 0x00000003, 0x80000001,
      0x7f7fffff, 0x7bff7bff, 0x00800000, 0x007fffff, 0x33803380, 0x04000400, 0x7f7f7f7f, 0x00100000};
  std::seed_seq seed(text.begin(), text.end());
  std::mt19937 random(seed);
  for (std::size_t at = 0; at < work.memory.size(); at += 4) {
    const std::uint32_t bits =
        random() % 2 == 0 ? static_cast<std::uint32_t>(random()) : kEdges.at(random() % kEdges.size());
    std::memcpy(&work.memory[at], &bits, 4);
  }
  return work;
}

class Forms {
 public:
  std::vector<KernelForm> take() { return std::move(forms_); }

  void add(const std::string& text, const std::string& body, const Receiver& receiver = kNoCluster) {
    forms_.push_back({"asynchronous values", text + receiver.text,
                      [text, body, receiver] { return work_of(text, body, receiver); }});
  }

  void add_for_receivers(const std::string& text, const std::string& body) {
    for (const Receiver& receiver : kReceivers) add(text, body, receiver);
  }

 private:
  std::vector<KernelForm> forms_;
};

const std::vector<std::pair<std::string, std::vector<std::string>>> kInGlobal{
    {"add", {"u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16"}},
    {"min", {"u32", "s32", "u64", "s64", "f16", "bf16"}},
    {"max", {"u32", "s32", "u64", "s64", "f16", "bf16"}},
    {"inc", {"u32"}},
    {"dec", {"u32"}},
    {"and", {"b32", "b64"}},
    {"or", {"b32", "b64"}},
    {"xor", {"b32", "b64"}}};

const std::vector<std::pair<std::string, std::vector<std::string>>> kInShared{{"add", {"u32", "s32", "u64"}},
                                                                              {"min", {"u32", "s32"}},
                                                                              {"max", {"u32", "s32"}},
                                                                              {"inc", {"u32"}},
                                                                              {"dec", {"u32"}},
                                                                              {"and", {"b32"}},
                                                                              {"or", {"b32"}},
                                                                              {"xor", {"b32"}}};

void add_bulk_reductions(Forms& forms) {
  for (const auto& [operation, types] : kInGlobal) {
    for (const std::string& type : types) {
      const std::string text = "cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation + "." + type;
      forms.add(text, "@%p1 " + text +
                          " [%rd1], [%r2], 1024;\n@%p1 cp.async.bulk.commit_group; @%p1 "
                          "cp.async.bulk.wait_group 0;\n");
    }
  }
  for (const auto& [operation, types] : kInShared) {
    for (const std::string& type : types) {
      const std::string text =
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + operation + "." +
          type;
      forms.add_for_receivers(text, "@%p1 " + text + " [%r8], [%r2], 1024, [%r9];\n" + kWait);
    }
  }
}

void add_async_stores(Forms& forms) {
  for (const auto& [operation, types] : kInShared) {
    for (const std::string& type : types) {
      const std::string text =
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + operation + "." + type;
      const bool wide = type == "u64";
      forms.add_for_receivers(text, wide
                                        ? text + " [%r11], %rd4, [%r9];\n" + kWait
                                        : "mov.b64 {%r12, %r13}, %rd4;\n" + text + " [%r11], %r12, [%r9];\n" +
                                              text + " [%r11+4], %r13, [%r9];\n" + kWait);
    }
  }
  const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.";
  forms.add_for_receivers(store + "b64", store + "b64 [%r11], %rd4, [%r9];\n" + kWait);
  forms.add_for_receivers(store + "v2.b32", "mov.b64 {%r12, %r13}, %rd4;\n" + store +
                                                "v2.b32 [%r11], {%r12, %r13}, [%r9];\n" + kWait);
  // Every second thread has 16 bytes, which come the other way around.
  const std::string halves = "and.b32 %r14, %r1, 1; setp.eq.u32 %p3, %r14, 0;\nmov.b64 {%r12, %r13}, %rd4;\n";
  forms.add_for_receivers(store + "v2.b64",
                          halves + "@%p3 " + store + "v2.b64 [%r11], {%rd4, %rd5}, [%r9];\n" + kWait);
  forms.add_for_receivers(store + "v4.b32", halves + "@%p3 " + store +
                                                "v4.b32 [%r11], {%r13, %r12, %r1, %r12}, [%r9];\n" + kWait);
}

}  // namespace

std::vector<KernelForm> async_forms() {
  Forms forms;
  add_bulk_reductions(forms);
  add_async_stores(forms);
  return forms.take();
}

std::vector<KernelForm> all_kernel_forms() {
  std::vector<KernelForm> forms = warpgroup_forms();
  std::vector<KernelForm> others = async_forms();
  forms.insert(forms.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return forms;
}

}  // namespace opgate::card
