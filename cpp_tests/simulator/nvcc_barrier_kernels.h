// What nvcc 13.0 makes of these kernels with -ptx -arch=sm_90, without comments and empty lines:
//
//     #include <cuda/barrier>
//     extern "C" __global__ void rotate_by_barrier(int* out, const int* in, int rounds) {
//       using barrier = cuda::barrier<cuda::thread_scope_block>;
//       __shared__ barrier bar;
//       __shared__ int values[64];
//       if (threadIdx.x == 0) init(&bar, blockDim.x);
//       __syncthreads();
//       int value = in[threadIdx.x];
//     #pragma unroll 1
//       for (int i = 0; i < rounds; ++i) {
//         values[threadIdx.x] = value;
//         bar.arrive_and_wait();
//         value = values[(threadIdx.x + 1) % blockDim.x] + 1;
//         __syncthreads();
//       }
//       out[threadIdx.x] = value;
//     }
//     extern "C" __global__ void copy_in_bulk(int* out, const int* in) {
//       using barrier = cuda::barrier<cuda::thread_scope_block>;
//       __shared__ alignas(16) int values[128];
//       __shared__ barrier bar;
//       if (threadIdx.x == 0) {
//         init(&bar, blockDim.x);
//         cuda::device::experimental::fence_proxy_async_shared_cta();
//       }
//       __syncthreads();
//       barrier::arrival_token token;
//       if (threadIdx.x == 0) {
//         cuda::device::experimental::cp_async_bulk_global_to_shared(values, in, sizeof(values), bar);
//         token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(values));
//       } else {
//         token = bar.arrive();
//       }
//       bar.wait(std::move(token));
//       for (int i = threadIdx.x; i < 128; i += blockDim.x) values[i] += 1000;
//       cuda::device::experimental::fence_proxy_async_shared_cta();
//       __syncthreads();
//       if (threadIdx.x == 0) {
//         cuda::device::experimental::cp_async_bulk_shared_to_global(out, values, sizeof(values));
//         cuda::device::experimental::cp_async_bulk_commit_group();
//         cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
//       }
//     }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kBarrierKernels = R"ptx(.version 9.0
.target sm_90
.address_size 64
.visible .entry rotate_by_barrier(
	.param .u64 rotate_by_barrier_param_0,
	.param .u64 rotate_by_barrier_param_1,
	.param .u32 rotate_by_barrier_param_2
)
{
	.reg .pred 	%p<8>;
	.reg .b32 	%r<35>;
	.reg .b64 	%rd<21>;
	.shared .align 8 .b8 _ZZ17rotate_by_barrierE3bar[8];
	.shared .align 4 .b8 _ZZ17rotate_by_barrierE6values[256];
	ld.param.u64 	%rd5, [rotate_by_barrier_param_0];
	ld.param.u64 	%rd6, [rotate_by_barrier_param_1];
	ld.param.u32 	%r13, [rotate_by_barrier_param_2];
	mov.u32 	%r1, %tid.x;
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB0_2;
	mov.u32 	%r15, %ntid.x;
	mov.u32 	%r14, _ZZ17rotate_by_barrierE3bar;
	mbarrier.init.shared.b64 [%r14], %r15;
$L__BB0_2:
	bar.sync 	0;
	cvt.u64.u32 	%rd1, %r1;
	cvta.to.global.u64 	%rd7, %rd6;
	mul.wide.u32 	%rd8, %r1, 4;
	add.s64 	%rd9, %rd7, %rd8;
	ld.global.u32 	%r34, [%rd9];
	setp.lt.s32 	%p2, %r13, 1;
	@%p2 bra 	$L__BB0_7;
	add.s32 	%r3, %r1, 1;
	mov.u32 	%r4, %ntid.x;
	shl.b32 	%r17, %r1, 2;
	mov.u32 	%r18, _ZZ17rotate_by_barrierE6values;
	add.s32 	%r5, %r18, %r17;
	mov.u32 	%r16, 0;
	rem.u32 	%r24, %r3, %r4;
	shl.b32 	%r25, %r24, 2;
	mov.u32 	%r31, %r16;
$L__BB0_4:
	.pragma "nounroll";
	st.shared.u32 	[%r5], %r34;
	mov.u32 	%r19, _ZZ17rotate_by_barrierE3bar;
	mov.u32 	%r20, 1;
	mbarrier.arrive.shared::cta.b64                             %rd10,  [%r19], %r20;
	mov.u64 %rd11, %globaltimer;
	mov.u32 	%r33, %r16;
	bra.uni 	$L__BB0_5;
$L__BB0_13:
	add.s32 	%r33, %r33, 1;
$L__BB0_5:
	{
	.reg .pred p;
	mbarrier.try_wait.shared.b64 p, [%r19], %rd10;
	selp.b32 %r22, 1, 0, p;
	}
	setp.eq.s32 	%p3, %r22, 0;
	@%p3 bra 	$L__BB0_8;
	bra.uni 	$L__BB0_6;
$L__BB0_8:
	setp.lt.s32 	%p5, %r33, 16;
	@%p5 bra 	$L__BB0_13;
	mov.u64 %rd16, %globaltimer;
	sub.s64 	%rd4, %rd16, %rd11;
	setp.lt.s64 	%p6, %rd4, 4000000;
	@%p6 bra 	$L__BB0_11;
	bra.uni 	$L__BB0_10;
$L__BB0_11:
	setp.lt.s64 	%p7, %rd4, 40000;
	@%p7 bra 	$L__BB0_5;
	shr.s64 	%rd17, %rd4, 63;
	shr.u64 	%rd18, %rd17, 62;
	add.s64 	%rd19, %rd4, %rd18;
	shr.u64 	%rd20, %rd19, 2;
	cvt.u32.u64 	%r30, %rd20;
	nanosleep.u32 %r30;
	bra.uni 	$L__BB0_5;
$L__BB0_10:
	mov.u32 	%r29, 1000000;
	nanosleep.u32 %r29;
	bra.uni 	$L__BB0_5;
$L__BB0_6:
	add.s32 	%r27, %r18, %r25;
	ld.shared.u32 	%r28, [%r27];
	add.s32 	%r34, %r28, 1;
	bar.sync 	0;
	add.s32 	%r31, %r31, 1;
	setp.lt.s32 	%p4, %r31, %r13;
	@%p4 bra 	$L__BB0_4;
$L__BB0_7:
	cvta.to.global.u64 	%rd13, %rd5;
	shl.b64 	%rd14, %rd1, 2;
	add.s64 	%rd15, %rd13, %rd14;
	st.global.u32 	[%rd15], %r34;
	ret;
}
.visible .entry copy_in_bulk(
	.param .u64 copy_in_bulk_param_0,
	.param .u64 copy_in_bulk_param_1
)
{
	.reg .pred 	%p<10>;
	.reg .b32 	%r<30>;
	.reg .b64 	%rd<20>;
	.shared .align 16 .b8 _ZZ12copy_in_bulkE6values[512];
	.shared .align 8 .b8 _ZZ12copy_in_bulkE3bar[8];
	ld.param.u64 	%rd6, [copy_in_bulk_param_0];
	ld.param.u64 	%rd7, [copy_in_bulk_param_1];
	mov.u32 	%r29, %tid.x;
	setp.ne.s32 	%p1, %r29, 0;
	@%p1 bra 	$L__BB1_2;
	mov.u32 	%r8, %ntid.x;
	mov.u32 	%r7, _ZZ12copy_in_bulkE3bar;
	mbarrier.init.shared.b64 [%r7], %r8;
	fence.proxy.async.shared::cta;
$L__BB1_2:
	setp.eq.s32 	%p2, %r29, 0;
	bar.sync 	0;
	@%p2 bra 	$L__BB1_4;
	mov.u32 	%r9, _ZZ12copy_in_bulkE3bar;
	mov.u32 	%r10, 1;
	mbarrier.arrive.shared::cta.b64                             %rd19,  [%r9], %r10;
	bra.uni 	$L__BB1_5;
$L__BB1_4:
	cvta.to.global.u64 	%rd9, %rd7;
	mov.u32 	%r11, _ZZ12copy_in_bulkE6values;
	mov.u32 	%r15, 512;
	mov.u32 	%r13, _ZZ12copy_in_bulkE3bar;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd9], %r15, [%r13];
	mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd19, [%r13], %r15;
$L__BB1_5:
	mov.u64 %rd11, %globaltimer;
	mov.u32 	%r28, 0;
	mov.u32 	%r18, _ZZ12copy_in_bulkE3bar;
	bra.uni 	$L__BB1_6;
$L__BB1_18:
	add.s32 	%r28, %r28, 1;
$L__BB1_6:
	{
	.reg .pred p;
	mbarrier.try_wait.shared.b64 p, [%r18], %rd19;
	selp.b32 %r17, 1, 0, p;
	}
	setp.eq.s32 	%p3, %r17, 0;
	@%p3 bra 	$L__BB1_13;
	bra.uni 	$L__BB1_7;
$L__BB1_13:
	setp.lt.s32 	%p7, %r28, 16;
	@%p7 bra 	$L__BB1_18;
	mov.u64 %rd14, %globaltimer;
	sub.s64 	%rd5, %rd14, %rd11;
	setp.lt.s64 	%p8, %rd5, 4000000;
	@%p8 bra 	$L__BB1_16;
	bra.uni 	$L__BB1_15;
$L__BB1_16:
	setp.lt.s64 	%p9, %rd5, 40000;
	@%p9 bra 	$L__BB1_6;
	shr.s64 	%rd15, %rd5, 63;
	shr.u64 	%rd16, %rd15, 62;
	add.s64 	%rd17, %rd5, %rd16;
	shr.u64 	%rd18, %rd17, 2;
	cvt.u32.u64 	%r27, %rd18;
	nanosleep.u32 %r27;
	bra.uni 	$L__BB1_6;
$L__BB1_15:
	mov.u32 	%r26, 1000000;
	nanosleep.u32 %r26;
	bra.uni 	$L__BB1_6;
$L__BB1_7:
	setp.gt.s32 	%p4, %r29, 127;
	@%p4 bra 	$L__BB1_10;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r20, _ZZ12copy_in_bulkE6values;
$L__BB1_9:
	shl.b32 	%r19, %r29, 2;
	add.s32 	%r21, %r20, %r19;
	ld.shared.u32 	%r22, [%r21];
	add.s32 	%r23, %r22, 1000;
	st.shared.u32 	[%r21], %r23;
	add.s32 	%r29, %r29, %r3;
	setp.lt.s32 	%p5, %r29, 128;
	@%p5 bra 	$L__BB1_9;
$L__BB1_10:
	fence.proxy.async.shared::cta;
	bar.sync 	0;
	@%p1 bra 	$L__BB1_12;
	cvta.to.global.u64 	%rd13, %rd6;
	mov.u32 	%r24, _ZZ12copy_in_bulkE6values;
	mov.u32 	%r25, 512;
	cp.async.bulk.global.shared::cta.bulk_group [%rd13], [%r24], %r25;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
$L__BB1_12:
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
