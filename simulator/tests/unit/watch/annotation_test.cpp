// What observers know of instructions.
#include <gtest/gtest.h>

#include <string>

#include "instructions/catalogue.h"
#include "instructions/selectors.h"
#include "ptx/program.h"
#include "watch/annotations.h"

namespace opgate::simulator::tests {
namespace annotation_test {

using Kind = Annotation::Kind;

// `site` is not 0 where the instruction has an operand in brackets.
Annotation annotation_of(const std::string& opcode, std::uint32_t site = 1, bool names_local = false) {
  Program program;
  program.functions.push_back(std::make_unique<Function>());
  Instruction instruction;
  instruction.execute = &execute_nothing;
  instruction.text = &opcode;
  instruction.site = site;
  program.functions[0]->code.push_back(instruction);
  OperandForm form;
  form.first = 1;
  form.total = 2;
  form.names_local = names_local;
  describe(form, *instruction_set().opcode_of(Modifiers(opcode)), opcode, site != 0);
  program.functions[0]->forms.push_back(form);
  return annotate(program).at(0);
}

TEST(SimulatedAnnotations, OfAccesses) {
  const Annotation load = annotation_of("ld.global.nc.L2::128B.v4.f32");
  EXPECT_EQ(load.kind, Kind::load);
  EXPECT_EQ(load.space, Space::global);
  EXPECT_EQ(load.bytes, 16);
  EXPECT_EQ(load.lanes, 4);
  EXPECT_EQ(load.operand, 4);  // after the registers
  EXPECT_FALSE(load.is_strong);
  const Annotation store = annotation_of("st.release.cta.shared::cta.u16");
  EXPECT_EQ(store.kind, Kind::store);
  EXPECT_EQ(store.space, Space::shared);
  EXPECT_EQ(store.bytes, 2);
  EXPECT_EQ(store.operand, 0);
  EXPECT_EQ(store.scope, Scope::block);
  EXPECT_TRUE(store.is_strong && store.releases && !store.acquires);
  const Annotation atomic = annotation_of("atom.acq_rel.gpu.global.add.noftz.f16x2");
  EXPECT_EQ(atomic.kind, Kind::atomic);
  EXPECT_EQ(atomic.bytes, 4);
  EXPECT_EQ(atomic.operand, 1);
  EXPECT_TRUE(atomic.is_strong && atomic.releases && atomic.acquires);
  EXPECT_EQ(annotation_of("red.add.s32").operand, 0);
  EXPECT_TRUE(annotation_of("ld.volatile.u8").is_volatile);
  EXPECT_TRUE(annotation_of("ld.relaxed.sys.u8").is_strong);
  EXPECT_FALSE(annotation_of("ld.global.cv.u32").is_strong);
  EXPECT_TRUE(annotation_of("ld.global.cv.u32").bypasses_caches);
  EXPECT_TRUE(annotation_of("red.global.add.s32").commutes);
  EXPECT_FALSE(annotation_of("red.global.add.f32").commutes);
  EXPECT_FALSE(annotation_of("atom.global.exch.b32").commutes);
}

TEST(SimulatedAnnotations, OfParameters) {
  EXPECT_EQ(annotation_of("ld.param.u64").kind, Kind::none);
  EXPECT_EQ(annotation_of("ld.param.u64", 1, true).kind, Kind::load);
  EXPECT_EQ(annotation_of("ld.param.u64", 1, true).space, Space::local);
}

TEST(SimulatedAnnotations, OfWarpgroupProducts) {
  EXPECT_EQ(annotation_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16").kind, Kind::product);
  EXPECT_EQ(annotation_of("wgmma.fence.sync.aligned").kind, Kind::product_fence);
  EXPECT_EQ(annotation_of("wgmma.commit_group.sync.aligned").kind, Kind::product_commit);
  EXPECT_EQ(annotation_of("wgmma.wait_group.sync.aligned").kind, Kind::product_wait);
  EXPECT_EQ(annotation_of("fence.proxy.async.shared::cta").kind, Kind::proxy_fence);
  EXPECT_FALSE(annotation_of("fence.proxy.async.global").is_watched());
}

TEST(SimulatedAnnotations, OfMapsOfTensors) {
  EXPECT_EQ(annotation_of("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes").kind,
            Kind::tensor_load);
  EXPECT_EQ(annotation_of("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group").kind, Kind::tensor_store);
  EXPECT_FALSE(annotation_of("tex.2d.v4.f32.f32").is_watched());
  EXPECT_FALSE(annotation_of("sust.b.2d.b32.trap").is_watched());
  EXPECT_FALSE(annotation_of("tensormap.replace.tile.rank.shared::cta.b1024.b32").is_watched());
}

TEST(SimulatedAnnotations, OfBarriersAndFences) {
  EXPECT_EQ(annotation_of("bar.sync", 0).kind, Kind::barrier);
  EXPECT_TRUE(annotation_of("bar.sync", 0).is_aligned);
  EXPECT_FALSE(annotation_of("barrier.sync", 0).is_aligned);
  EXPECT_TRUE(annotation_of("barrier.sync.aligned", 0).is_aligned);
  EXPECT_EQ(annotation_of("bar.arrive", 0).kind, Kind::arrive);
  EXPECT_EQ(annotation_of("bar.warp.sync", 0).kind, Kind::warp_barrier);
  EXPECT_EQ(annotation_of("membar.cta", 0).scope, Scope::block);
  EXPECT_EQ(annotation_of("fence.sc.sys", 0).kind, Kind::fence);
  EXPECT_FALSE(annotation_of("fence.proxy.alias", 0).is_watched());
}

TEST(SimulatedAnnotations, OfMatrices) {
  const Annotation load = annotation_of("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
  EXPECT_EQ(load.kind, Kind::load);
  EXPECT_EQ(load.space, Space::shared);
  EXPECT_EQ(load.bytes, 16);
  EXPECT_EQ(load.rows, 16);
  EXPECT_EQ(load.operand, 2);  // after the registers
  const Annotation store = annotation_of("stmatrix.sync.aligned.m8n8.x4.shared.b16");
  EXPECT_EQ(store.kind, Kind::store);
  EXPECT_EQ(store.rows, 32);
  EXPECT_EQ(store.operand, 0);
  EXPECT_EQ(store.lanes, 0);
  EXPECT_TRUE(annotation_of("wmma.load.a.sync.aligned.row.m16n16k16.global.f16").is_fragment);
  EXPECT_EQ(annotation_of("wmma.store.d.sync.aligned.row.m16n16k16.f32").kind, Kind::store);
  EXPECT_EQ(annotation_of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0).kind, Kind::none);
}

TEST(SimulatedAnnotations, OfCopies) {
  EXPECT_EQ(annotation_of("cp.async.cg.shared.global").kind, Kind::copy);
  EXPECT_FALSE(annotation_of("cp.async.commit_group", 0).is_watched());
  EXPECT_EQ(annotation_of("cp.async.wait_group", 0).kind, Kind::copy_wait);
  EXPECT_EQ(annotation_of("cp.async.bulk.wait_group.read", 0).kind, Kind::copy_wait);
  EXPECT_EQ(annotation_of("cp.async.bulk.global.shared::cta.bulk_group").kind, Kind::bulk_store);
  const Annotation load = annotation_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(load.kind, Kind::bulk_load);
  EXPECT_EQ(load.space, Space::global);
  EXPECT_FALSE(load.is_strong);
  const Annotation reduction =
      annotation_of("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32");
  EXPECT_EQ(reduction.kind, Kind::bulk_load);
  EXPECT_EQ(reduction.space, Space::shared);
  EXPECT_TRUE(reduction.is_strong);
  EXPECT_EQ(annotation_of("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group").kind,
            Kind::tensor_store);
  EXPECT_FALSE(annotation_of("cp.async.bulk.prefetch.L2.global").is_watched());
}

TEST(SimulatedAnnotations, OfObjectsOfMbarrier) {
  EXPECT_EQ(annotation_of("mbarrier.init.shared::cta.b64").kind, Kind::store);
  const Annotation arrival = annotation_of("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64");
  EXPECT_EQ(arrival.kind, Kind::mbarrier);
  EXPECT_EQ(arrival.operand, 1);
  EXPECT_TRUE(arrival.releases && arrival.is_strong);
  EXPECT_FALSE(annotation_of("mbarrier.arrive.relaxed.cta.shared.b64").releases);
  EXPECT_EQ(annotation_of("mbarrier.expect_tx.relaxed.cta.shared::cta.b64").operand, 0);
  EXPECT_EQ(annotation_of("mbarrier.try_wait.parity.shared::cta.b64").kind, Kind::mbarrier_look);
  EXPECT_TRUE(annotation_of("mbarrier.test_wait.shared.b64").acquires);
  EXPECT_FALSE(annotation_of("mbarrier.test_wait.relaxed.cta.shared.b64").acquires);
  EXPECT_FALSE(annotation_of("mbarrier.pending_count.b64", 0).is_watched());
  EXPECT_EQ(annotation_of("cp.async.mbarrier.arrive.noinc.shared::cta.b64").kind, Kind::promise);
}

// A tool must not be silent about memory that it does not see.
TEST(SimulatedAnnotations, OfWhatNoToolKnows) {
  EXPECT_EQ(annotation_of("add.s32", 1).kind, Kind::unknown);
  EXPECT_EQ(annotation_of("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32").kind, Kind::unknown);
  EXPECT_EQ(annotation_of("add.s32", 0).kind, Kind::none);
}

}  // namespace annotation_test
}  // namespace opgate::simulator::tests
