// Reductions with a mistake, and their right twins. What nvcc 13.0 makes of these kernels with -ptx -arch=sm_80, without comments and empty lines:
//
//     // Tree reduction.
//     template <bool right> __device__ void tree(float* out, const float* in) {
//       __shared__ float s[256];
//       const unsigned t = threadIdx.x;
//       s[t] = in[blockIdx.x * 256 + t];
//       __syncthreads();
//     #pragma unroll 1
//       for (unsigned k = 128; k > 0; k >>= 1) {
//         if (t < k) s[t] += s[t + k];
//         if (right) __syncthreads();
//       }
//       if (t == 0) out[blockIdx.x] = s[0];
//     }
//     extern "C" __global__ void tree_right(float* out, const float* in) { tree<true>(out, in); }
//     extern "C" __global__ void tree_wrong(float* out, const float* in) { tree<false>(out, in); }
//
//     // The last steps in one warp, through volatile shared memory.
//     template <bool right> __device__ void warp_tail(float* out, const float* in) {
//       __shared__ volatile float s[64];
//       const unsigned t = threadIdx.x;
//       s[t] = in[t];
//       __syncthreads();
//       if (t < 32) {
//         float v = s[t];
//     #pragma unroll 1
//         for (unsigned k = 32; k > 0; k >>= 1) {
//           v += s[t + k];
//           if (right) __syncwarp();
//           s[t] = v;
//           if (right) __syncwarp();
//         }
//         if (t == 0) *out = v;
//       }
//     }
//     extern "C" __global__ void warp_right(float* out, const float* in) { warp_tail<true>(out, in); }
//     extern "C" __global__ void warp_wrong(float* out, const float* in) { warp_tail<false>(out, in); }
//
//     // The last block adds what all blocks have written.
//     __device__ unsigned finished = 0;
//     template <bool right> __device__ void last_block(float* out, const float* in, float* partial) {
//       __shared__ float s[64];
//       __shared__ bool is_last;
//       const unsigned t = threadIdx.x;
//       s[t] = in[blockIdx.x * 64 + t];
//       __syncthreads();
//     #pragma unroll 1
//       for (unsigned k = 32; k > 0; k >>= 1) {
//         if (t < k) s[t] += s[t + k];
//         __syncthreads();
//       }
//       if (t == 0) {
//         partial[blockIdx.x] = s[0];
//         if (right) __threadfence();
//         is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
//       }
//       __syncthreads();
//       if (is_last) {
//         s[t] = t < gridDim.x ? partial[t] : 0;
//         __syncthreads();
//     #pragma unroll 1
//         for (unsigned k = 32; k > 0; k >>= 1) {
//           if (t < k) s[t] += s[t + k];
//           __syncthreads();
//         }
//         if (t == 0) *out = s[0];
//       }
//     }
//     extern "C" __global__ void last_right(float* out, const float* in, float* partial) { last_block<true>(out, in, partial); }
//     extern "C" __global__ void last_wrong(float* out, const float* in, float* partial) { last_block<false>(out, in, partial); }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kReductionKernels = R"ptx(.version 9.0
.target sm_80
.address_size 64
.global .align 4 .u32 finished;
.visible .entry tree_right(
	.param .u64 tree_right_param_0,
	.param .u64 tree_right_param_1
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<6>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<9>;
	.shared .align 4 .b8 _ZZ4treeILb1EEvPfPKfE1s[1024];
	ld.param.u64 	%rd1, [tree_right_param_0];
	ld.param.u64 	%rd2, [tree_right_param_1];
	cvta.to.global.u64 	%rd3, %rd2;
	mov.u32 	%r1, %ctaid.x;
	shl.b32 	%r7, %r1, 8;
	mov.u32 	%r2, %tid.x;
	add.s32 	%r8, %r7, %r2;
	mul.wide.u32 	%rd4, %r8, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.f32 	%f1, [%rd5];
	shl.b32 	%r9, %r2, 2;
	mov.u32 	%r10, _ZZ4treeILb1EEvPfPKfE1s;
	add.s32 	%r3, %r10, %r9;
	st.shared.f32 	[%r3], %f1;
	bar.sync 	0;
	mov.u32 	%r13, 128;
$L__BB0_1:
	.pragma "nounroll";
	setp.ge.u32 	%p1, %r2, %r13;
	@%p1 bra 	$L__BB0_3;
	shl.b32 	%r11, %r13, 2;
	add.s32 	%r12, %r3, %r11;
	ld.shared.f32 	%f2, [%r3];
	ld.shared.f32 	%f3, [%r12];
	add.f32 	%f4, %f3, %f2;
	st.shared.f32 	[%r3], %f4;
$L__BB0_3:
	bar.sync 	0;
	shr.u32 	%r13, %r13, 1;
	setp.ne.s32 	%p2, %r13, 0;
	@%p2 bra 	$L__BB0_1;
	setp.ne.s32 	%p3, %r2, 0;
	@%p3 bra 	$L__BB0_6;
	cvta.to.global.u64 	%rd6, %rd1;
	ld.shared.f32 	%f5, [_ZZ4treeILb1EEvPfPKfE1s];
	mul.wide.u32 	%rd7, %r1, 4;
	add.s64 	%rd8, %rd6, %rd7;
	st.global.f32 	[%rd8], %f5;
$L__BB0_6:
	ret;
}
.visible .entry tree_wrong(
	.param .u64 tree_wrong_param_0,
	.param .u64 tree_wrong_param_1
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<6>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<9>;
	.shared .align 4 .b8 _ZZ4treeILb0EEvPfPKfE1s[1024];
	ld.param.u64 	%rd1, [tree_wrong_param_0];
	ld.param.u64 	%rd2, [tree_wrong_param_1];
	cvta.to.global.u64 	%rd3, %rd2;
	mov.u32 	%r1, %ctaid.x;
	shl.b32 	%r7, %r1, 8;
	mov.u32 	%r2, %tid.x;
	add.s32 	%r8, %r7, %r2;
	mul.wide.u32 	%rd4, %r8, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.f32 	%f1, [%rd5];
	shl.b32 	%r9, %r2, 2;
	mov.u32 	%r10, _ZZ4treeILb0EEvPfPKfE1s;
	add.s32 	%r3, %r10, %r9;
	st.shared.f32 	[%r3], %f1;
	bar.sync 	0;
	mov.u32 	%r13, 128;
$L__BB1_1:
	.pragma "nounroll";
	setp.ge.u32 	%p1, %r2, %r13;
	@%p1 bra 	$L__BB1_3;
	shl.b32 	%r11, %r13, 2;
	add.s32 	%r12, %r3, %r11;
	ld.shared.f32 	%f2, [%r3];
	ld.shared.f32 	%f3, [%r12];
	add.f32 	%f4, %f3, %f2;
	st.shared.f32 	[%r3], %f4;
$L__BB1_3:
	shr.u32 	%r13, %r13, 1;
	setp.ne.s32 	%p2, %r13, 0;
	@%p2 bra 	$L__BB1_1;
	setp.ne.s32 	%p3, %r2, 0;
	@%p3 bra 	$L__BB1_6;
	cvta.to.global.u64 	%rd6, %rd1;
	ld.shared.f32 	%f5, [_ZZ4treeILb0EEvPfPKfE1s];
	mul.wide.u32 	%rd7, %r1, 4;
	add.s64 	%rd8, %rd6, %rd7;
	st.global.f32 	[%rd8], %f5;
$L__BB1_6:
	ret;
}
.visible .entry warp_right(
	.param .u64 warp_right_param_0,
	.param .u64 warp_right_param_1
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<7>;
	.reg .b32 	%r<11>;
	.reg .b64 	%rd<7>;
	.shared .align 4 .b8 _ZZ9warp_tailILb1EEvPfPKfE1s[256];
	ld.param.u64 	%rd2, [warp_right_param_0];
	ld.param.u64 	%rd3, [warp_right_param_1];
	mov.u32 	%r1, %tid.x;
	cvta.to.global.u64 	%rd4, %rd3;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.f32 	%f4, [%rd6];
	shl.b32 	%r5, %r1, 2;
	mov.u32 	%r6, _ZZ9warp_tailILb1EEvPfPKfE1s;
	add.s32 	%r2, %r6, %r5;
	st.volatile.shared.f32 	[%r2], %f4;
	bar.sync 	0;
	setp.gt.u32 	%p1, %r1, 31;
	@%p1 bra 	$L__BB2_5;
	ld.volatile.shared.f32 	%f6, [%r2];
	cvta.to.global.u64 	%rd1, %rd2;
	mov.u32 	%r10, 32;
$L__BB2_2:
	.pragma "nounroll";
	shl.b32 	%r8, %r10, 2;
	add.s32 	%r9, %r2, %r8;
	ld.volatile.shared.f32 	%f5, [%r9];
	add.f32 	%f6, %f6, %f5;
	bar.warp.sync 	-1;
	st.volatile.shared.f32 	[%r2], %f6;
	bar.warp.sync 	-1;
	shr.u32 	%r10, %r10, 1;
	setp.ne.s32 	%p2, %r10, 0;
	@%p2 bra 	$L__BB2_2;
	setp.ne.s32 	%p3, %r1, 0;
	@%p3 bra 	$L__BB2_5;
	st.global.f32 	[%rd1], %f6;
$L__BB2_5:
	ret;
}
.visible .entry warp_wrong(
	.param .u64 warp_wrong_param_0,
	.param .u64 warp_wrong_param_1
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<7>;
	.reg .b32 	%r<11>;
	.reg .b64 	%rd<7>;
	.shared .align 4 .b8 _ZZ9warp_tailILb0EEvPfPKfE1s[256];
	ld.param.u64 	%rd2, [warp_wrong_param_0];
	ld.param.u64 	%rd3, [warp_wrong_param_1];
	mov.u32 	%r1, %tid.x;
	cvta.to.global.u64 	%rd4, %rd3;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.f32 	%f4, [%rd6];
	shl.b32 	%r5, %r1, 2;
	mov.u32 	%r6, _ZZ9warp_tailILb0EEvPfPKfE1s;
	add.s32 	%r2, %r6, %r5;
	st.volatile.shared.f32 	[%r2], %f4;
	bar.sync 	0;
	setp.gt.u32 	%p1, %r1, 31;
	@%p1 bra 	$L__BB3_5;
	ld.volatile.shared.f32 	%f6, [%r2];
	cvta.to.global.u64 	%rd1, %rd2;
	mov.u32 	%r10, 32;
$L__BB3_2:
	.pragma "nounroll";
	shl.b32 	%r8, %r10, 2;
	add.s32 	%r9, %r2, %r8;
	ld.volatile.shared.f32 	%f5, [%r9];
	add.f32 	%f6, %f6, %f5;
	st.volatile.shared.f32 	[%r2], %f6;
	shr.u32 	%r10, %r10, 1;
	setp.ne.s32 	%p2, %r10, 0;
	@%p2 bra 	$L__BB3_2;
	setp.ne.s32 	%p3, %r1, 0;
	@%p3 bra 	$L__BB3_5;
	st.global.f32 	[%rd1], %f6;
$L__BB3_5:
	ret;
}
.visible .entry last_right(
	.param .u64 last_right_param_0,
	.param .u64 last_right_param_1,
	.param .u64 last_right_param_2
)
{
	.reg .pred 	%p<10>;
	.reg .b16 	%rs<3>;
	.reg .f32 	%f<14>;
	.reg .b32 	%r<24>;
	.reg .b64 	%rd<14>;
	.shared .align 4 .b8 _ZZ10last_blockILb1EEvPfPKfS0_E1s[256];
	.shared .align 1 .u8 _ZZ10last_blockILb1EEvPfPKfS0_E7is_last;
	ld.param.u64 	%rd4, [last_right_param_0];
	ld.param.u64 	%rd5, [last_right_param_1];
	ld.param.u64 	%rd3, [last_right_param_2];
	cvta.to.global.u64 	%rd1, %rd4;
	mov.u32 	%r1, %ctaid.x;
	shl.b32 	%r9, %r1, 6;
	mov.u32 	%r2, %tid.x;
	add.s32 	%r10, %r9, %r2;
	cvta.to.global.u64 	%rd6, %rd5;
	mul.wide.u32 	%rd7, %r10, 4;
	add.s64 	%rd8, %rd6, %rd7;
	ld.global.f32 	%f3, [%rd8];
	shl.b32 	%r11, %r2, 2;
	mov.u32 	%r12, _ZZ10last_blockILb1EEvPfPKfS0_E1s;
	add.s32 	%r3, %r12, %r11;
	st.shared.f32 	[%r3], %f3;
	bar.sync 	0;
	mov.u32 	%r22, 32;
$L__BB4_1:
	.pragma "nounroll";
	setp.ge.u32 	%p1, %r2, %r22;
	@%p1 bra 	$L__BB4_3;
	shl.b32 	%r13, %r22, 2;
	add.s32 	%r14, %r3, %r13;
	ld.shared.f32 	%f4, [%r3];
	ld.shared.f32 	%f5, [%r14];
	add.f32 	%f6, %f5, %f4;
	st.shared.f32 	[%r3], %f6;
$L__BB4_3:
	bar.sync 	0;
	shr.u32 	%r22, %r22, 1;
	setp.ne.s32 	%p2, %r22, 0;
	@%p2 bra 	$L__BB4_1;
	cvta.to.global.u64 	%rd2, %rd3;
	setp.ne.s32 	%p3, %r2, 0;
	@%p3 bra 	$L__BB4_6;
	ld.shared.f32 	%f7, [_ZZ10last_blockILb1EEvPfPKfS0_E1s];
	mul.wide.u32 	%rd9, %r1, 4;
	add.s64 	%rd10, %rd2, %rd9;
	st.global.f32 	[%rd10], %f7;
	membar.gl;
	mov.u32 	%r15, %nctaid.x;
	add.s32 	%r16, %r15, -1;
	mov.u64 	%rd11, finished;
	atom.global.inc.u32 	%r17, [%rd11], %r16;
	setp.eq.s32 	%p4, %r17, %r16;
	selp.u16 	%rs1, 1, 0, %p4;
	st.shared.u8 	[_ZZ10last_blockILb1EEvPfPKfS0_E7is_last], %rs1;
$L__BB4_6:
	bar.sync 	0;
	ld.shared.u8 	%rs2, [_ZZ10last_blockILb1EEvPfPKfS0_E7is_last];
	setp.eq.s16 	%p5, %rs2, 0;
	@%p5 bra 	$L__BB4_15;
	mov.u32 	%r18, %nctaid.x;
	setp.ge.u32 	%p6, %r2, %r18;
	mov.f32 	%f13, 0f00000000;
	@%p6 bra 	$L__BB4_9;
	mul.wide.u32 	%rd12, %r2, 4;
	add.s64 	%rd13, %rd2, %rd12;
	ld.global.f32 	%f13, [%rd13];
$L__BB4_9:
	st.shared.f32 	[%r3], %f13;
	bar.sync 	0;
	mov.u32 	%r23, 32;
$L__BB4_10:
	.pragma "nounroll";
	setp.ge.u32 	%p7, %r2, %r23;
	@%p7 bra 	$L__BB4_12;
	shl.b32 	%r20, %r23, 2;
	add.s32 	%r21, %r3, %r20;
	ld.shared.f32 	%f9, [%r3];
	ld.shared.f32 	%f10, [%r21];
	add.f32 	%f11, %f10, %f9;
	st.shared.f32 	[%r3], %f11;
$L__BB4_12:
	bar.sync 	0;
	shr.u32 	%r23, %r23, 1;
	setp.ne.s32 	%p8, %r23, 0;
	@%p8 bra 	$L__BB4_10;
	@%p3 bra 	$L__BB4_15;
	ld.shared.f32 	%f12, [_ZZ10last_blockILb1EEvPfPKfS0_E1s];
	st.global.f32 	[%rd1], %f12;
$L__BB4_15:
	ret;
}
.visible .entry last_wrong(
	.param .u64 last_wrong_param_0,
	.param .u64 last_wrong_param_1,
	.param .u64 last_wrong_param_2
)
{
	.reg .pred 	%p<10>;
	.reg .b16 	%rs<3>;
	.reg .f32 	%f<14>;
	.reg .b32 	%r<24>;
	.reg .b64 	%rd<14>;
	.shared .align 4 .b8 _ZZ10last_blockILb0EEvPfPKfS0_E1s[256];
	.shared .align 1 .u8 _ZZ10last_blockILb0EEvPfPKfS0_E7is_last;
	ld.param.u64 	%rd4, [last_wrong_param_0];
	ld.param.u64 	%rd5, [last_wrong_param_1];
	ld.param.u64 	%rd3, [last_wrong_param_2];
	cvta.to.global.u64 	%rd1, %rd4;
	mov.u32 	%r1, %ctaid.x;
	shl.b32 	%r9, %r1, 6;
	mov.u32 	%r2, %tid.x;
	add.s32 	%r10, %r9, %r2;
	cvta.to.global.u64 	%rd6, %rd5;
	mul.wide.u32 	%rd7, %r10, 4;
	add.s64 	%rd8, %rd6, %rd7;
	ld.global.f32 	%f3, [%rd8];
	shl.b32 	%r11, %r2, 2;
	mov.u32 	%r12, _ZZ10last_blockILb0EEvPfPKfS0_E1s;
	add.s32 	%r3, %r12, %r11;
	st.shared.f32 	[%r3], %f3;
	bar.sync 	0;
	mov.u32 	%r22, 32;
$L__BB5_1:
	.pragma "nounroll";
	setp.ge.u32 	%p1, %r2, %r22;
	@%p1 bra 	$L__BB5_3;
	shl.b32 	%r13, %r22, 2;
	add.s32 	%r14, %r3, %r13;
	ld.shared.f32 	%f4, [%r3];
	ld.shared.f32 	%f5, [%r14];
	add.f32 	%f6, %f5, %f4;
	st.shared.f32 	[%r3], %f6;
$L__BB5_3:
	bar.sync 	0;
	shr.u32 	%r22, %r22, 1;
	setp.ne.s32 	%p2, %r22, 0;
	@%p2 bra 	$L__BB5_1;
	cvta.to.global.u64 	%rd2, %rd3;
	setp.ne.s32 	%p3, %r2, 0;
	@%p3 bra 	$L__BB5_6;
	ld.shared.f32 	%f7, [_ZZ10last_blockILb0EEvPfPKfS0_E1s];
	mul.wide.u32 	%rd9, %r1, 4;
	add.s64 	%rd10, %rd2, %rd9;
	st.global.f32 	[%rd10], %f7;
	mov.u32 	%r15, %nctaid.x;
	add.s32 	%r16, %r15, -1;
	mov.u64 	%rd11, finished;
	atom.global.inc.u32 	%r17, [%rd11], %r16;
	setp.eq.s32 	%p4, %r17, %r16;
	selp.u16 	%rs1, 1, 0, %p4;
	st.shared.u8 	[_ZZ10last_blockILb0EEvPfPKfS0_E7is_last], %rs1;
$L__BB5_6:
	bar.sync 	0;
	ld.shared.u8 	%rs2, [_ZZ10last_blockILb0EEvPfPKfS0_E7is_last];
	setp.eq.s16 	%p5, %rs2, 0;
	@%p5 bra 	$L__BB5_15;
	mov.u32 	%r18, %nctaid.x;
	setp.ge.u32 	%p6, %r2, %r18;
	mov.f32 	%f13, 0f00000000;
	@%p6 bra 	$L__BB5_9;
	mul.wide.u32 	%rd12, %r2, 4;
	add.s64 	%rd13, %rd2, %rd12;
	ld.global.f32 	%f13, [%rd13];
$L__BB5_9:
	st.shared.f32 	[%r3], %f13;
	bar.sync 	0;
	mov.u32 	%r23, 32;
$L__BB5_10:
	.pragma "nounroll";
	setp.ge.u32 	%p7, %r2, %r23;
	@%p7 bra 	$L__BB5_12;
	shl.b32 	%r20, %r23, 2;
	add.s32 	%r21, %r3, %r20;
	ld.shared.f32 	%f9, [%r3];
	ld.shared.f32 	%f10, [%r21];
	add.f32 	%f11, %f10, %f9;
	st.shared.f32 	[%r3], %f11;
$L__BB5_12:
	bar.sync 	0;
	shr.u32 	%r23, %r23, 1;
	setp.ne.s32 	%p8, %r23, 0;
	@%p8 bra 	$L__BB5_10;
	@%p3 bra 	$L__BB5_15;
	ld.shared.f32 	%f12, [_ZZ10last_blockILb0EEvPfPKfS0_E1s];
	st.global.f32 	[%rd1], %f12;
$L__BB5_15:
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
