// Other kernels with a mistake, and their right twins. What nvcc 13.0 makes of these kernels with -ptx -arch=sm_80, without comments and empty lines:
//
//     // A histogram: counted with and without atomic additions, and read with and without a barrier.
//     extern "C" __global__ void histogram_right(unsigned* out, const unsigned* in) {
//       __shared__ unsigned s[32];
//       if (threadIdx.x < 32) s[threadIdx.x] = 0;
//       __syncthreads();
//       atomicAdd(&s[in[threadIdx.x] & 31], 1u);
//       __syncthreads();
//       if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
//     }
//     extern "C" __global__ void histogram_no_atomic(unsigned* out, const unsigned* in) {
//       __shared__ unsigned s[32];
//       if (threadIdx.x < 32) s[threadIdx.x] = 0;
//       __syncthreads();
//       s[in[threadIdx.x] & 31] += 1;
//       __syncthreads();
//       if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
//     }
//     extern "C" __global__ void histogram_no_barrier(unsigned* out, const unsigned* in) {
//       __shared__ unsigned s[32];
//       if (threadIdx.x < 32) s[threadIdx.x] = 0;
//       __syncthreads();
//       atomicAdd(&s[in[threadIdx.x] & 31], 1u);
//       if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
//     }
//     extern "C" __global__ void histogram_not_cleared(unsigned* out, const unsigned* in) {
//       __shared__ unsigned s[32];
//       atomicAdd(&s[in[threadIdx.x] & 31], 1u);
//       __syncthreads();
//       if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
//     }
//
//     // A scan in two buffers (Harris, Sengupta, Owens: Parallel prefix sum with CUDA, 2007) and the same in one buffer.
//     template <bool right> __device__ void scan(float* out, const float* in) {
//       __shared__ float s[2][128];
//       const unsigned t = threadIdx.x;
//       unsigned to = 0;
//       s[0][t] = in[t];
//       __syncthreads();
//     #pragma unroll 1
//       for (unsigned k = 1; k < 128; k <<= 1) {
//         const unsigned from = to;
//         if (right) to = 1 - to;
//         const float v = s[from][t];
//         s[to][t] = t >= k ? v + s[from][t - k] : v;
//         __syncthreads();
//       }
//       out[t] = s[to][t];
//     }
//     extern "C" __global__ void scan_right(float* out, const float* in) { scan<true>(out, in); }
//     extern "C" __global__ void scan_wrong(float* out, const float* in) { scan<false>(out, in); }
//
//     // A barrier in a branch that some threads of a warp do not take.
//     template <bool right> __device__ void branch(float* out, const float* in, int n) {
//       __shared__ float s[64];
//       const int t = threadIdx.x;
//       if (right) {
//         if (t < n) s[t] = in[t];
//         __syncthreads();
//         if (t < n) out[t] = s[n - 1 - t];
//       } else if (t < n) {
//         s[t] = in[t];
//         __syncthreads();
//         out[t] = s[n - 1 - t];
//       }
//     }
//     extern "C" __global__ void branch_right(float* out, const float* in, int n) { branch<true>(out, in, n); }
//     extern "C" __global__ void branch_wrong(float* out, const float* in, int n) { branch<false>(out, in, n); }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kMistakenKernels = R"ptx(.version 9.0
.target sm_80
.address_size 64
.visible .entry histogram_right(
	.param .u64 histogram_right_param_0,
	.param .u64 histogram_right_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ15histogram_rightE1s[128];
	ld.param.u64 	%rd2, [histogram_right_param_0];
	ld.param.u64 	%rd3, [histogram_right_param_1];
	mov.u32 	%r1, %tid.x;
	setp.gt.u32 	%p1, %r1, 31;
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ15histogram_rightE1s;
	add.s32 	%r2, %r4, %r3;
	@%p1 bra 	$L__BB0_2;
	mov.u32 	%r5, 0;
	st.shared.u32 	[%r2], %r5;
$L__BB0_2:
	bar.sync 	0;
	cvt.u64.u32 	%rd1, %r1;
	cvta.to.global.u64 	%rd4, %rd3;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.u32 	%r6, [%rd6];
	shl.b32 	%r7, %r6, 2;
	and.b32  	%r8, %r7, 124;
	add.s32 	%r10, %r4, %r8;
	atom.shared.add.u32 	%r11, [%r10], 1;
	bar.sync 	0;
	@%p1 bra 	$L__BB0_4;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	ld.shared.u32 	%r12, [%r2];
	atom.global.add.u32 	%r13, [%rd9], %r12;
$L__BB0_4:
	ret;
}
.visible .entry histogram_no_atomic(
	.param .u64 histogram_no_atomic_param_0,
	.param .u64 histogram_no_atomic_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<15>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ19histogram_no_atomicE1s[128];
	ld.param.u64 	%rd2, [histogram_no_atomic_param_0];
	ld.param.u64 	%rd3, [histogram_no_atomic_param_1];
	mov.u32 	%r1, %tid.x;
	setp.gt.u32 	%p1, %r1, 31;
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ19histogram_no_atomicE1s;
	add.s32 	%r2, %r4, %r3;
	@%p1 bra 	$L__BB1_2;
	mov.u32 	%r5, 0;
	st.shared.u32 	[%r2], %r5;
$L__BB1_2:
	bar.sync 	0;
	cvt.u64.u32 	%rd1, %r1;
	cvta.to.global.u64 	%rd4, %rd3;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.u32 	%r6, [%rd6];
	shl.b32 	%r7, %r6, 2;
	and.b32  	%r8, %r7, 124;
	add.s32 	%r10, %r4, %r8;
	ld.shared.u32 	%r11, [%r10];
	add.s32 	%r12, %r11, 1;
	st.shared.u32 	[%r10], %r12;
	bar.sync 	0;
	@%p1 bra 	$L__BB1_4;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	ld.shared.u32 	%r13, [%r2];
	atom.global.add.u32 	%r14, [%rd9], %r13;
$L__BB1_4:
	ret;
}
.visible .entry histogram_no_barrier(
	.param .u64 histogram_no_barrier_param_0,
	.param .u64 histogram_no_barrier_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ20histogram_no_barrierE1s[128];
	ld.param.u64 	%rd2, [histogram_no_barrier_param_0];
	ld.param.u64 	%rd3, [histogram_no_barrier_param_1];
	mov.u32 	%r1, %tid.x;
	setp.gt.u32 	%p1, %r1, 31;
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ20histogram_no_barrierE1s;
	add.s32 	%r2, %r4, %r3;
	@%p1 bra 	$L__BB2_2;
	mov.u32 	%r5, 0;
	st.shared.u32 	[%r2], %r5;
$L__BB2_2:
	bar.sync 	0;
	cvt.u64.u32 	%rd1, %r1;
	cvta.to.global.u64 	%rd4, %rd3;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.u32 	%r6, [%rd6];
	shl.b32 	%r7, %r6, 2;
	and.b32  	%r8, %r7, 124;
	add.s32 	%r10, %r4, %r8;
	atom.shared.add.u32 	%r11, [%r10], 1;
	@%p1 bra 	$L__BB2_4;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	ld.shared.u32 	%r12, [%r2];
	atom.global.add.u32 	%r13, [%rd9], %r12;
$L__BB2_4:
	ret;
}
.visible .entry histogram_not_cleared(
	.param .u64 histogram_not_cleared_param_0,
	.param .u64 histogram_not_cleared_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ21histogram_not_clearedE1s[128];
	ld.param.u64 	%rd2, [histogram_not_cleared_param_0];
	ld.param.u64 	%rd3, [histogram_not_cleared_param_1];
	cvta.to.global.u64 	%rd4, %rd3;
	mov.u32 	%r1, %tid.x;
	cvt.u64.u32 	%rd1, %r1;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.u32 	%r2, [%rd6];
	shl.b32 	%r3, %r2, 2;
	and.b32  	%r4, %r3, 124;
	mov.u32 	%r5, _ZZ21histogram_not_clearedE1s;
	add.s32 	%r6, %r5, %r4;
	atom.shared.add.u32 	%r7, [%r6], 1;
	bar.sync 	0;
	setp.gt.u32 	%p1, %r1, 31;
	@%p1 bra 	$L__BB3_2;
	cvt.u32.u64 	%r8, %rd1;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	shl.b32 	%r9, %r8, 2;
	add.s32 	%r11, %r5, %r9;
	ld.shared.u32 	%r12, [%r11];
	atom.global.add.u32 	%r13, [%rd9], %r12;
$L__BB3_2:
	ret;
}
.visible .entry scan_right(
	.param .u64 scan_right_param_0,
	.param .u64 scan_right_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<8>;
	.reg .b32 	%r<33>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ4scanILb1EEvPfPKfE1s[1024];
	ld.param.u64 	%rd2, [scan_right_param_0];
	ld.param.u64 	%rd3, [scan_right_param_1];
	cvta.to.global.u64 	%rd4, %rd3;
	mov.u32 	%r8, %tid.x;
	cvt.u64.u32 	%rd1, %r8;
	mul.wide.u32 	%rd5, %r8, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.f32 	%f4, [%rd6];
	shl.b32 	%r9, %r8, 2;
	mov.u32 	%r10, _ZZ4scanILb1EEvPfPKfE1s;
	add.s32 	%r1, %r10, %r9;
	mov.u32 	%r32, 0;
	st.shared.f32 	[%r1], %f4;
	bar.sync 	0;
	mov.u32 	%r6, 1;
	mov.u32 	%r31, %r6;
$L__BB4_1:
	.pragma "nounroll";
	sub.s32 	%r4, %r6, %r32;
	cvt.u32.u64 	%r12, %rd1;
	shl.b32 	%r13, %r32, 9;
	add.s32 	%r15, %r10, %r13;
	shl.b32 	%r16, %r12, 2;
	add.s32 	%r17, %r15, %r16;
	ld.shared.f32 	%f7, [%r17];
	setp.lt.u32 	%p1, %r12, %r31;
	@%p1 bra 	$L__BB4_3;
	sub.s32 	%r19, %r12, %r31;
	shl.b32 	%r23, %r19, 2;
	add.s32 	%r24, %r15, %r23;
	ld.shared.f32 	%f5, [%r24];
	add.f32 	%f7, %f7, %f5;
$L__BB4_3:
	shl.b32 	%r26, %r4, 9;
	add.s32 	%r28, %r10, %r26;
	add.s32 	%r30, %r28, %r16;
	st.shared.f32 	[%r30], %f7;
	bar.sync 	0;
	shl.b32 	%r31, %r31, 1;
	setp.lt.u32 	%p2, %r31, 128;
	mov.u32 	%r32, %r4;
	@%p2 bra 	$L__BB4_1;
	cvta.to.global.u64 	%rd7, %rd2;
	ld.shared.f32 	%f6, [%r1+512];
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	st.global.f32 	[%rd9], %f6;
	ret;
}
.visible .entry scan_wrong(
	.param .u64 scan_wrong_param_0,
	.param .u64 scan_wrong_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<10>;
	.reg .b32 	%r<15>;
	.reg .b64 	%rd<10>;
	.shared .align 4 .b8 _ZZ4scanILb0EEvPfPKfE1s[1024];
	ld.param.u64 	%rd2, [scan_wrong_param_0];
	ld.param.u64 	%rd3, [scan_wrong_param_1];
	cvta.to.global.u64 	%rd4, %rd3;
	mov.u32 	%r5, %tid.x;
	cvt.u64.u32 	%rd1, %r5;
	mul.wide.u32 	%rd5, %r5, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.f32 	%f6, [%rd6];
	shl.b32 	%r6, %r5, 2;
	mov.u32 	%r7, _ZZ4scanILb0EEvPfPKfE1s;
	add.s32 	%r1, %r7, %r6;
	st.shared.f32 	[%r1], %f6;
	bar.sync 	0;
	ld.shared.f32 	%f9, [%r1];
	mov.u32 	%r14, 1;
	cvt.u32.u64 	%r8, %rd1;
$L__BB5_1:
	.pragma "nounroll";
	setp.lt.u32 	%p1, %r8, %r14;
	@%p1 bra 	$L__BB5_3;
	sub.s32 	%r10, %r8, %r14;
	shl.b32 	%r11, %r10, 2;
	add.s32 	%r13, %r7, %r11;
	ld.shared.f32 	%f7, [%r13];
	add.f32 	%f9, %f9, %f7;
$L__BB5_3:
	st.shared.f32 	[%r1], %f9;
	bar.sync 	0;
	shl.b32 	%r14, %r14, 1;
	setp.lt.u32 	%p2, %r14, 128;
	ld.shared.f32 	%f9, [%r1];
	@%p2 bra 	$L__BB5_1;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	st.global.f32 	[%rd9], %f9;
	ret;
}
.visible .entry branch_right(
	.param .u64 branch_right_param_0,
	.param .u64 branch_right_param_1,
	.param .u32 branch_right_param_2
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<11>;
	.reg .b64 	%rd<9>;
	.shared .align 4 .b8 _ZZ6branchILb1EEvPfPKfiE1s[256];
	ld.param.u64 	%rd1, [branch_right_param_0];
	ld.param.u64 	%rd2, [branch_right_param_1];
	ld.param.u32 	%r2, [branch_right_param_2];
	mov.u32 	%r1, %tid.x;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB6_2;
	cvta.to.global.u64 	%rd3, %rd2;
	mul.wide.s32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.f32 	%f1, [%rd5];
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ6branchILb1EEvPfPKfiE1s;
	add.s32 	%r5, %r4, %r3;
	st.shared.f32 	[%r5], %f1;
$L__BB6_2:
	bar.sync 	0;
	@%p1 bra 	$L__BB6_4;
	not.b32 	%r6, %r1;
	add.s32 	%r7, %r6, %r2;
	shl.b32 	%r8, %r7, 2;
	mov.u32 	%r9, _ZZ6branchILb1EEvPfPKfiE1s;
	add.s32 	%r10, %r9, %r8;
	ld.shared.f32 	%f2, [%r10];
	cvta.to.global.u64 	%rd6, %rd1;
	mul.wide.s32 	%rd7, %r1, 4;
	add.s64 	%rd8, %rd6, %rd7;
	st.global.f32 	[%rd8], %f2;
$L__BB6_4:
	ret;
}
.visible .entry branch_wrong(
	.param .u64 branch_wrong_param_0,
	.param .u64 branch_wrong_param_1,
	.param .u32 branch_wrong_param_2
)
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<8>;
	.shared .align 4 .b8 _ZZ6branchILb0EEvPfPKfiE1s[256];
	ld.param.u64 	%rd1, [branch_wrong_param_0];
	ld.param.u64 	%rd2, [branch_wrong_param_1];
	ld.param.u32 	%r2, [branch_wrong_param_2];
	mov.u32 	%r1, %tid.x;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB7_2;
	cvta.to.global.u64 	%rd3, %rd2;
	mul.wide.s32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.f32 	%f1, [%rd5];
	shl.b32 	%r3, %r1, 2;
	mov.u32 	%r4, _ZZ6branchILb0EEvPfPKfiE1s;
	add.s32 	%r5, %r4, %r3;
	st.shared.f32 	[%r5], %f1;
	bar.sync 	0;
	not.b32 	%r6, %r1;
	add.s32 	%r7, %r6, %r2;
	shl.b32 	%r8, %r7, 2;
	add.s32 	%r9, %r4, %r8;
	ld.shared.f32 	%f2, [%r9];
	cvta.to.global.u64 	%rd6, %rd1;
	add.s64 	%rd7, %rd6, %rd4;
	st.global.f32 	[%rd7], %f2;
$L__BB7_2:
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
