// A cooperative kernel with a mistake, and its right twin. What nvcc 13.0 makes of these kernels with -ptx -arch=sm_80, without
// comments and empty lines:
//
//     #include <cooperative_groups.h>
//     namespace cg = cooperative_groups;
//     extern "C" __global__ void grid_right(float* out, const float* in) {
//       const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//       const unsigned n = gridDim.x * blockDim.x;
//       out[i] = in[i];
//       cg::this_grid().sync();
//       const float v = out[n - 1 - i];
//       cg::this_grid().sync();
//       out[i] = v + 1;
//     }
//     extern "C" __global__ void grid_wrong(float* out, const float* in) {
//       const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//       const unsigned n = gridDim.x * blockDim.x;
//       out[i] = in[i];
//       cg::this_grid().sync();
//       const float v = out[n - 1 - i];
//       out[i] = v + 1;
//     }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kGridKernels = R"ptx(.version 9.0
.target sm_80
.address_size 64
.visible .entry grid_right(
	.param .u64 grid_right_param_0,
	.param .u64 grid_right_param_1
)
{
	.reg .pred 	%p<9>;
	.reg .f32 	%f<4>;
	.reg .b32 	%r<47>;
	.reg .b64 	%rd<22>;
	ld.param.u64 	%rd7, [grid_right_param_0];
	ld.param.u64 	%rd8, [grid_right_param_1];
	cvta.to.global.u64 	%rd1, %rd7;
	mov.u32 	%r1, %ntid.x;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %tid.x;
	mad.lo.s32 	%r4, %r2, %r1, %r3;
	mov.u32 	%r5, %nctaid.x;
	cvta.to.global.u64 	%rd9, %rd8;
	mul.wide.u32 	%rd10, %r4, 4;
	add.s64 	%rd11, %rd9, %rd10;
	ld.global.f32 	%f2, [%rd11];
	add.s64 	%rd2, %rd1, %rd10;
	st.global.f32 	[%rd2], %f2;
	mov.u32 %r10, %envreg2;
	cvt.u64.u32 	%rd12, %r10;
	mov.u32 %r11, %envreg1;
	cvt.u64.u32 	%rd13, %r11;
	bfi.b64 	%rd3, %rd13, %rd12, 32, 32;
	setp.ne.s64 	%p1, %rd3, 0;
	@%p1 bra 	$L__BB0_2;
	trap;
$L__BB0_2:
	barrier.sync 	0;
	mov.u32 	%r12, %tid.y;
	add.s32 	%r6, %r3, %r12;
	mov.u32 	%r13, %tid.z;
	neg.s32 	%r7, %r13;
	setp.ne.s32 	%p2, %r6, %r7;
	@%p2 bra 	$L__BB0_5;
	add.s64 	%rd14, %rd3, 4;
	mov.u32 	%r16, %nctaid.y;
	mul.lo.s32 	%r17, %r5, %r16;
	mov.u32 	%r18, %nctaid.z;
	mul.lo.s32 	%r19, %r17, %r18;
	mov.u32 	%r20, %ctaid.y;
	add.s32 	%r21, %r2, %r20;
	mov.u32 	%r22, %ctaid.z;
	neg.s32 	%r23, %r22;
	setp.eq.s32 	%p3, %r21, %r23;
	mov.u32 	%r24, -2147483647;
	sub.s32 	%r25, %r24, %r19;
	selp.b32 	%r15, %r25, 1, %p3;
	atom.add.release.gpu.u32 %r14,[%rd14],%r15;
$L__BB0_4:
	ld.acquire.gpu.u32 %r26,[%rd14];
	xor.b32  	%r27, %r26, %r14;
	setp.gt.s32 	%p4, %r27, -1;
	@%p4 bra 	$L__BB0_4;
$L__BB0_5:
	barrier.sync 	0;
	not.b32 	%r30, %r4;
	mad.lo.s32 	%r31, %r5, %r1, %r30;
	mul.wide.u32 	%rd16, %r31, 4;
	add.s64 	%rd17, %rd1, %rd16;
	ld.global.f32 	%f1, [%rd17];
	mov.u32 %r28, %envreg2;
	cvt.u64.u32 	%rd18, %r28;
	mov.u32 %r29, %envreg1;
	cvt.u64.u32 	%rd19, %r29;
	bfi.b64 	%rd5, %rd19, %rd18, 32, 32;
	setp.ne.s64 	%p5, %rd5, 0;
	@%p5 bra 	$L__BB0_7;
	trap;
$L__BB0_7:
	barrier.sync 	0;
	@%p2 bra 	$L__BB0_10;
	add.s64 	%rd20, %rd5, 4;
	mov.u32 	%r34, %nctaid.y;
	mul.lo.s32 	%r36, %r5, %r34;
	mov.u32 	%r37, %nctaid.z;
	mul.lo.s32 	%r38, %r36, %r37;
	mov.u32 	%r39, %ctaid.y;
	add.s32 	%r40, %r2, %r39;
	mov.u32 	%r41, %ctaid.z;
	neg.s32 	%r42, %r41;
	setp.eq.s32 	%p7, %r40, %r42;
	mov.u32 	%r43, -2147483647;
	sub.s32 	%r44, %r43, %r38;
	selp.b32 	%r33, %r44, 1, %p7;
	atom.add.release.gpu.u32 %r32,[%rd20],%r33;
$L__BB0_9:
	ld.acquire.gpu.u32 %r45,[%rd20];
	xor.b32  	%r46, %r45, %r32;
	setp.gt.s32 	%p8, %r46, -1;
	@%p8 bra 	$L__BB0_9;
$L__BB0_10:
	barrier.sync 	0;
	add.f32 	%f3, %f1, 0f3F800000;
	st.global.f32 	[%rd2], %f3;
	ret;
}
.visible .entry grid_wrong(
	.param .u64 grid_wrong_param_0,
	.param .u64 grid_wrong_param_1
)
{
	.reg .pred 	%p<5>;
	.reg .f32 	%f<4>;
	.reg .b32 	%r<29>;
	.reg .b64 	%rd<16>;
	ld.param.u64 	%rd5, [grid_wrong_param_0];
	ld.param.u64 	%rd6, [grid_wrong_param_1];
	cvta.to.global.u64 	%rd1, %rd5;
	mov.u32 	%r1, %ntid.x;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %tid.x;
	mad.lo.s32 	%r4, %r2, %r1, %r3;
	mov.u32 	%r5, %nctaid.x;
	cvta.to.global.u64 	%rd7, %rd6;
	mul.wide.u32 	%rd8, %r4, 4;
	add.s64 	%rd9, %rd7, %rd8;
	ld.global.f32 	%f1, [%rd9];
	add.s64 	%rd2, %rd1, %rd8;
	st.global.f32 	[%rd2], %f1;
	mov.u32 %r7, %envreg2;
	cvt.u64.u32 	%rd10, %r7;
	mov.u32 %r8, %envreg1;
	cvt.u64.u32 	%rd11, %r8;
	bfi.b64 	%rd3, %rd11, %rd10, 32, 32;
	setp.ne.s64 	%p1, %rd3, 0;
	@%p1 bra 	$L__BB1_2;
	trap;
$L__BB1_2:
	barrier.sync 	0;
	mov.u32 	%r9, %tid.y;
	add.s32 	%r10, %r3, %r9;
	mov.u32 	%r11, %tid.z;
	neg.s32 	%r12, %r11;
	setp.ne.s32 	%p2, %r10, %r12;
	@%p2 bra 	$L__BB1_5;
	add.s64 	%rd12, %rd3, 4;
	mov.u32 	%r15, %nctaid.y;
	mul.lo.s32 	%r16, %r5, %r15;
	mov.u32 	%r17, %nctaid.z;
	mul.lo.s32 	%r18, %r16, %r17;
	mov.u32 	%r19, %ctaid.y;
	add.s32 	%r20, %r2, %r19;
	mov.u32 	%r21, %ctaid.z;
	neg.s32 	%r22, %r21;
	setp.eq.s32 	%p3, %r20, %r22;
	mov.u32 	%r23, -2147483647;
	sub.s32 	%r24, %r23, %r18;
	selp.b32 	%r14, %r24, 1, %p3;
	atom.add.release.gpu.u32 %r13,[%rd12],%r14;
$L__BB1_4:
	ld.acquire.gpu.u32 %r25,[%rd12];
	xor.b32  	%r26, %r25, %r13;
	setp.gt.s32 	%p4, %r26, -1;
	@%p4 bra 	$L__BB1_4;
$L__BB1_5:
	barrier.sync 	0;
	not.b32 	%r27, %r4;
	mad.lo.s32 	%r28, %r5, %r1, %r27;
	mul.wide.u32 	%rd14, %r28, 4;
	add.s64 	%rd15, %rd1, %rd14;
	ld.global.f32 	%f2, [%rd15];
	add.f32 	%f3, %f2, 0f3F800000;
	st.global.f32 	[%rd2], %f3;
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
