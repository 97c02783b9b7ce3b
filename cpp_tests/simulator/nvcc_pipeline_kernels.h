// A warp reads tiles that one thread copies in bulk, with objects of `mbarrier` for tiles that are full and places that are empty.
// What nvcc 13.0 makes of it with -ptx -arch=sm_90, without comments and empty lines:
//
//     __device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
//     __device__ void wait(unsigned long long* barrier, int parity) {
//       unsigned done = 0;
//       while (!done)
//         asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
//                      : "=r"(done) : "r"(at(barrier)), "r"(parity) : "memory");
//     }
//     extern "C" __global__ void sum_of_tiles(int* out, const int* in, int tiles) {
//       __shared__ alignas(16) int tile[2][32];
//       __shared__ unsigned long long full[2], empty[2];
//       if (threadIdx.x == 0) {
//         for (int i = 0; i < 2; ++i) {
//           asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&full[i])));
//           asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(at(&empty[i])));
//         }
//         asm volatile("fence.mbarrier_init.release.cluster;");
//       }
//       __syncthreads();
//       if (threadIdx.x == 32) {
//     #pragma unroll 1
//         for (int i = 0; i < tiles; ++i) {
//           wait(&empty[i % 2], (i / 2 + 1) % 2);
//           asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" :: "r"(at(&full[i % 2])) : "memory");
//           asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
//                        :: "r"(at(tile[i % 2])), "l"(__cvta_generic_to_global(in + 32 * i)), "r"(at(&full[i % 2])) : "memory");
//         }
//       } else if (threadIdx.x < 32) {
//         int sum = 0;
//     #pragma unroll 1
//         for (int i = 0; i < tiles; ++i) {
//           wait(&full[i % 2], i / 2 % 2);
//           sum += tile[i % 2][31 - threadIdx.x];
//           asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(&empty[i % 2])) : "memory");
//         }
//         out[threadIdx.x] = sum;
//       }
//     }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kPipelineKernels = R"ptx(.version 9.0
.target sm_90
.address_size 64
.visible .entry sum_of_tiles(
	.param .u64 sum_of_tiles_param_0,
	.param .u64 sum_of_tiles_param_1,
	.param .u32 sum_of_tiles_param_2
)
{
	.reg .pred 	%p<10>;
	.reg .b32 	%r<62>;
	.reg .b64 	%rd<9>;
	.shared .align 16 .b8 _ZZ12sum_of_tilesE4tile[256];
	.shared .align 8 .b8 _ZZ12sum_of_tilesE4full[16];
	.shared .align 8 .b8 _ZZ12sum_of_tilesE5empty[16];
	ld.param.u64 	%rd2, [sum_of_tiles_param_0];
	ld.param.u64 	%rd3, [sum_of_tiles_param_1];
	ld.param.u32 	%r16, [sum_of_tiles_param_2];
	mov.u32 	%r1, %tid.x;
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB0_2;
	mov.u32 	%r17, _ZZ12sum_of_tilesE4full;
	mbarrier.init.shared::cta.b64 [%r17], 1;
	mov.u32 	%r18, _ZZ12sum_of_tilesE5empty;
	mbarrier.init.shared::cta.b64 [%r18], 32;
	add.s32 	%r19, %r17, 8;
	mbarrier.init.shared::cta.b64 [%r19], 1;
	add.s32 	%r20, %r18, 8;
	mbarrier.init.shared::cta.b64 [%r20], 32;
	fence.mbarrier_init.release.cluster;
$L__BB0_2:
	bar.sync 	0;
	setp.eq.s32 	%p2, %r1, 32;
	@%p2 bra 	$L__BB0_10;
	bra.uni 	$L__BB0_3;
$L__BB0_10:
	setp.lt.s32 	%p7, %r16, 1;
	@%p7 bra 	$L__BB0_15;
	cvta.to.global.u64 	%rd1, %rd3;
	mov.u32 	%r61, 0;
	mov.u32 	%r46, _ZZ12sum_of_tilesE5empty;
$L__BB0_12:
	.pragma "nounroll";
	shr.u32 	%r42, %r61, 1;
	not.b32 	%r43, %r42;
	and.b32  	%r12, %r43, 1;
	and.b32  	%r13, %r61, 1;
	shl.b32 	%r44, %r61, 3;
	and.b32  	%r45, %r44, 8;
	add.s32 	%r14, %r46, %r45;
$L__BB0_13:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r14], %r12; selp.u32 %r47, 1, 0, p; }
	setp.eq.s32 	%p8, %r47, 0;
	@%p8 bra 	$L__BB0_13;
	shl.b32 	%r53, %r13, 3;
	mov.u32 	%r54, _ZZ12sum_of_tilesE4full;
	add.s32 	%r52, %r54, %r53;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r52], 128;
	shl.b32 	%r55, %r13, 7;
	mov.u32 	%r56, _ZZ12sum_of_tilesE4tile;
	add.s32 	%r51, %r56, %r55;
	shl.b32 	%r57, %r61, 5;
	mul.wide.s32 	%rd8, %r57, 4;
	add.s64 	%rd7, %rd1, %rd8;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r51], [%rd7], 128, [%r52];
	add.s32 	%r61, %r61, 1;
	setp.lt.s32 	%p9, %r61, %r16;
	@%p9 bra 	$L__BB0_12;
	bra.uni 	$L__BB0_15;
$L__BB0_3:
	setp.gt.u32 	%p3, %r1, 31;
	@%p3 bra 	$L__BB0_15;
	setp.lt.s32 	%p4, %r16, 1;
	mov.u32 	%r60, 0;
	@%p4 bra 	$L__BB0_9;
	mov.u32 	%r24, 31;
	sub.s32 	%r2, %r24, %r1;
	mov.u32 	%r58, 0;
	shl.b32 	%r36, %r2, 2;
	mov.u32 	%r60, %r58;
$L__BB0_6:
	.pragma "nounroll";
	shr.u32 	%r25, %r58, 1;
	and.b32  	%r5, %r25, 1;
	and.b32  	%r6, %r58, 1;
	shl.b32 	%r26, %r58, 3;
	and.b32  	%r27, %r26, 8;
	mov.u32 	%r28, _ZZ12sum_of_tilesE4full;
	add.s32 	%r7, %r28, %r27;
$L__BB0_7:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r7], %r5; selp.u32 %r29, 1, 0, p; }
	setp.eq.s32 	%p5, %r29, 0;
	@%p5 bra 	$L__BB0_7;
	shl.b32 	%r33, %r6, 7;
	mov.u32 	%r34, _ZZ12sum_of_tilesE4tile;
	add.s32 	%r35, %r34, %r33;
	add.s32 	%r37, %r35, %r36;
	ld.shared.u32 	%r38, [%r37];
	add.s32 	%r60, %r38, %r60;
	shl.b32 	%r39, %r6, 3;
	mov.u32 	%r40, _ZZ12sum_of_tilesE5empty;
	add.s32 	%r32, %r40, %r39;
	mbarrier.arrive.shared::cta.b64 _, [%r32];
	add.s32 	%r58, %r58, 1;
	setp.lt.s32 	%p6, %r58, %r16;
	@%p6 bra 	$L__BB0_6;
$L__BB0_9:
	cvta.to.global.u64 	%rd4, %rd2;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	st.global.u32 	[%rd6], %r60;
$L__BB0_15:
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
