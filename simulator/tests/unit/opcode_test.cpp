// Which cells of the catalogue depend on the words after the dots.
#include "ptx/opcode.h"

#include <gtest/gtest.h>

#include <string>

#include "instructions/catalogue.h"
#include "ptx/operand_form.h"

namespace opgate::simulator::tests {
namespace opcode_test {

OperandForm form_of(const std::string& text) {
  OperandForm form;
  form.first = 1;
  describe(form, *instruction_set().opcode_of(Modifiers(text)), text, /*has_address=*/false);
  return form;
}

bool has_result(const std::string& text) { return form_of(text).results != 0; }

Waits waits_of(const std::string& text) { return form_of(text).waits; }

TEST(SimulatedOpcodes, HaveAResultOrNot) {
  for (const char* const text :
       {"add.s32", "ld.global.f32", "atom.global.add.u32", "shfl.sync.idx.b32", "bar.red.popc.u32",
        "barrier.cta.red.and.pred", "wmma.load.a.sync.aligned.row.m16n16k16.f16",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "mbarrier.arrive.shared.b64",
        "mbarrier.arrive.expect_tx.shared.b64", "mbarrier.arrive_drop.shared.b64",
        "mbarrier.test_wait.shared.b64", "mbarrier.pending_count.b64"})
    EXPECT_TRUE(has_result(text)) << text;
  for (const char* const text :
       {"st.global.f32", "red.global.add.u32", "bar.sync", "bar.warp.sync", "barrier.cta.arrive",
        "wmma.store.d.sync.aligned.row.m16n16k16.f32", "stmatrix.sync.aligned.m8n8.x1.shared.b16",
        "mbarrier.init.shared.b64", "mbarrier.inval.shared.b64", "mbarrier.expect_tx.relaxed.cta.shared.b64",
        "mbarrier.complete_tx.relaxed.cta.shared.b64", "cp.async.ca.shared.global", "nanosleep.u32"})
    EXPECT_FALSE(has_result(text)) << text;
}

TEST(SimulatedOpcodes, WaitOrNot) {
  EXPECT_EQ(waits_of("add.s32"), Waits::never);
  EXPECT_EQ(waits_of("vote.sync.ballot.b32"), Waits::for_lanes);
  EXPECT_EQ(waits_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), Waits::for_warp);
  EXPECT_EQ(waits_of("bar.sync"), Waits::otherwise);
  EXPECT_EQ(waits_of("mbarrier.try_wait.parity.shared.b64"), Waits::otherwise);
  EXPECT_EQ(waits_of("mbarrier.arrive.shared.b64"), Waits::never);
}

TEST(SimulatedOpcodes, AreNotAllKnown) {
  EXPECT_EQ(instruction_set().opcode_of(Modifiers("tcgen05.mma.cta_group::1.kind::f16")), nullptr);
  EXPECT_NE(instruction_set().opcode_of(Modifiers("cp.async.bulk.shared::cluster.global")), nullptr);
}

}  // namespace opcode_test
}  // namespace opgate::simulator::tests
