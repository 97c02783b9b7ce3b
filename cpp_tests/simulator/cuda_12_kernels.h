// What the compiler of CUDA 12.9 makes of the kernels of nvcc_kernels.h, and of multiply_tiles of nvcc_matrix_kernels.h, for
// sm_70: by NVRTC with --gpu-architecture=compute_70 --std=c++17, without comments and empty lines.
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kKernelsOfCuda12 = R"ptx(.version 8.8
.target sm_70
.address_size 64
.visible .entry gelu_half(
	.param .u64 gelu_half_param_0,
	.param .u64 gelu_half_param_1,
	.param .u32 gelu_half_param_2
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<38>;
	.reg .b32 	%r<17>;
	.reg .b64 	%rd<9>;
	ld.param.u64 	%rd1, [gelu_half_param_0];
	ld.param.u64 	%rd2, [gelu_half_param_1];
	ld.param.u32 	%r2, [gelu_half_param_2];
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r3, %r4, %r5;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB0_4;
	cvta.to.global.u64 	%rd3, %rd2;
	mul.wide.s32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.u32 	%r6, [%rd5];
	{.reg .f16 low,high;
  mov.b32 {low,high},%r6;
  cvt.f32.f16 %f7, low;}
	{.reg .f16 low,high;
  mov.b32 {low,high},%r6;
  cvt.f32.f16 %f8, high;}
	mul.f32 	%f3, %f7, 0f3F3504F3;
	abs.f32 	%f9, %f3;
	setp.ltu.f32 	%p2, %f9, 0f3F8060FE;
	setp.ge.f32 	%p3, %f9, 0f3F8060FE;
	mul.f32 	%f10, %f3, %f3;
	selp.f32 	%f11, %f9, %f10, %p3;
	selp.f32 	%f12, 0f38EB4C3A, 0f38B1E96A, %p3;
	selp.f32 	%f13, 0fBAAE005B, 0fBA574D20, %p3;
	fma.rn.f32 	%f14, %f12, %f11, %f13;
	selp.f32 	%f15, 0f3C09919F, 0f3BAAD5EA, %p3;
	fma.rn.f32 	%f16, %f14, %f11, %f15;
	selp.f32 	%f17, 0fBD24D99A, 0fBCDC1BE7, %p3;
	fma.rn.f32 	%f18, %f16, %f11, %f17;
	selp.f32 	%f19, 0f3E235519, 0f3DE718AF, %p3;
	fma.rn.f32 	%f20, %f18, %f11, %f19;
	selp.f32 	%f21, 0f3F69B4F9, 0fBEC093AC, %p3;
	fma.rn.f32 	%f22, %f20, %f11, %f21;
	selp.f32 	%f23, 0f3F210A14, 0f3E0375D3, %p3;
	fma.rn.f32 	%f24, %f22, %f11, %f23;
	neg.f32 	%f25, %f9;
	selp.f32 	%f26, %f25, %f3, %p3;
	fma.rn.f32 	%f37, %f24, %f26, %f26;
	@%p2 bra 	$L__BB0_3;
	ex2.approx.ftz.f32 	%f27, %f37;
	mov.f32 	%f28, 0f3F800000;
	sub.f32 	%f29, %f28, %f27;
	mov.b32 	%r8, %f29;
	mov.b32 	%r9, %f3;
	and.b32  	%r10, %r9, -2147483648;
	or.b32  	%r11, %r10, %r8;
	mov.b32 	%f37, %r11;
$L__BB0_3:
	add.f32 	%f32, %f37, 0f3F800000;
	mul.f32 	%f33, %f7, 0f3F000000;
	mul.f32 	%f30, %f33, %f32;
	mul.f32 	%f34, %f8, 0f3FB8AA3B;
	ex2.approx.f32 	%f35, %f34;
	fma.rn.f32 	%f36, %f8, %f8, 0f3F800000;
	div.rn.f32 	%f31, %f35, %f36;
	{.reg .f16 low,high;
  cvt.rn.f16.f32 low, %f30;
  cvt.rn.f16.f32 high, %f31;
  mov.b32 %r12, {low,high};}
	cvta.to.global.u64 	%rd6, %rd1;
	add.s64 	%rd8, %rd6, %rd4;
	st.global.u32 	[%rd8], %r12;
$L__BB0_4:
	ret;
}
.visible .entry block_sums(
	.param .u64 block_sums_param_0,
	.param .u64 block_sums_param_1,
	.param .u32 block_sums_param_2
)
{
	.reg .pred 	%p<9>;
	.reg .f32 	%f<20>;
	.reg .b32 	%r<26>;
	.reg .b64 	%rd<14>;
	.shared .align 4 .b8 _ZZ10block_sumsE4sums[128];
	ld.param.u64 	%rd5, [block_sums_param_0];
	ld.param.u64 	%rd6, [block_sums_param_1];
	ld.param.u32 	%r12, [block_sums_param_2];
	mov.u32 	%r1, %ntid.x;
	mov.u32 	%r13, %ctaid.x;
	mov.u32 	%r2, %tid.x;
	mad.lo.s32 	%r23, %r13, %r1, %r2;
	setp.ge.s32 	%p1, %r23, %r12;
	mov.f32 	%f16, 0f00000000;
	@%p1 bra 	$L__BB1_3;
	mov.u32 	%r14, %nctaid.x;
	mul.lo.s32 	%r4, %r14, %r1;
	cvta.to.global.u64 	%rd1, %rd6;
	mov.f32 	%f16, 0f00000000;
$L__BB1_2:
	mul.wide.s32 	%rd7, %r23, 4;
	add.s64 	%rd8, %rd1, %rd7;
	ld.global.f32 	%f11, [%rd8];
	add.f32 	%f16, %f16, %f11;
	add.s32 	%r23, %r23, %r4;
	setp.lt.s32 	%p2, %r23, %r12;
	@%p2 bra 	$L__BB1_2;
$L__BB1_3:
	cvta.to.global.u64 	%rd2, %rd5;
	mov.u32 	%r24, 16;
$L__BB1_4:
	.pragma "nounroll";
	mov.b32 	%r16, %f16;
	mov.u32 	%r17, 31;
	mov.u32 	%r18, -1;
	shfl.sync.down.b32 	%r19|%p3, %r16, %r24, %r17, %r18;
	mov.b32 	%f12, %r19;
	add.f32 	%f16, %f16, %f12;
	shr.u32 	%r24, %r24, 1;
	setp.ne.s32 	%p4, %r24, 0;
	@%p4 bra 	$L__BB1_4;
	and.b32  	%r20, %r2, 31;
	setp.ne.s32 	%p5, %r20, 0;
	@%p5 bra 	$L__BB1_7;
	shr.u32 	%r21, %r2, 5;
	mul.wide.u32 	%rd9, %r21, 4;
	mov.u64 	%rd10, _ZZ10block_sumsE4sums;
	add.s64 	%rd11, %rd10, %rd9;
	st.shared.f32 	[%rd11], %f16;
$L__BB1_7:
	bar.sync 	0;
	setp.ne.s32 	%p6, %r2, 0;
	@%p6 bra 	$L__BB1_12;
	setp.lt.u32 	%p7, %r1, 64;
	@%p7 bra 	$L__BB1_11;
	shr.u32 	%r9, %r1, 5;
	mov.u32 	%r25, 1;
	mov.u64 	%rd13, _ZZ10block_sumsE4sums;
$L__BB1_10:
	.pragma "nounroll";
	add.s64 	%rd4, %rd13, 4;
	ld.shared.f32 	%f13, [%rd13+4];
	add.f32 	%f16, %f16, %f13;
	add.s32 	%r25, %r25, 1;
	setp.lt.u32 	%p8, %r25, %r9;
	mov.u64 	%rd13, %rd4;
	@%p8 bra 	$L__BB1_10;
$L__BB1_11:
	atom.global.add.f32 	%f14, [%rd2], %f16;
$L__BB1_12:
	ret;
}
.visible .entry hash(
	.param .u64 hash_param_0,
	.param .u64 hash_param_1,
	.param .u32 hash_param_2
)
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<14>;
	.reg .b64 	%rd<37>;
	ld.param.u64 	%rd6, [hash_param_0];
	ld.param.u64 	%rd7, [hash_param_1];
	ld.param.u32 	%r3, [hash_param_2];
	mov.u32 	%r4, %tid.x;
	cvt.s64.s32 	%rd1, %r4;
	cvta.to.global.u64 	%rd8, %rd7;
	mul.wide.s32 	%rd9, %r4, 8;
	add.s64 	%rd10, %rd8, %rd9;
	ld.global.u64 	%rd36, [%rd10];
	setp.lt.s32 	%p1, %r3, 1;
	@%p1 bra 	$L__BB2_3;
	mov.u32 	%r13, 0;
$L__BB2_2:
	.pragma "nounroll";
	mul.hi.u64 	%rd11, %rd36, 896011011859258473;
	sub.s64 	%rd12, %rd36, %rd11;
	shr.u64 	%rd13, %rd12, 1;
	add.s64 	%rd14, %rd13, %rd11;
	shr.u64 	%rd15, %rd14, 19;
	mul.lo.s64 	%rd16, %rd15, 1000003;
	sub.s64 	%rd17, %rd36, %rd16;
	{
	.reg .b64 %lhs;
	.reg .b64 %rhs;
	shl.b64 	%lhs, %rd36, 7;
	shr.b64 	%rhs, %rd36, 57;
	add.u64 	%rd18, %lhs, %rhs;
	}
	xor.b64  	%rd19, %rd17, %rd18;
	popc.b64 	%r6, %rd36;
	cvt.u64.u32 	%rd20, %r6;
	xor.b64  	%rd21, %rd19, %rd20;
	mov.u64 	%rd22, -7046029254386353131;
	mul.hi.u64 	%rd23, %rd36, %rd22;
	xor.b64  	%rd24, %rd21, %rd23;
	add.s32 	%r7, %r13, -5;
	setp.eq.s32 	%p2, %r13, 5;
	selp.b32 	%r8, 1, %r7, %p2;
	cvt.s64.s32 	%rd25, %r8;
	div.s64 	%rd26, %rd24, %rd25;
	add.s64 	%rd27, %rd24, %rd26;
	brev.b64 	%rd28, %rd27;
	cvt.u32.u64 	%r9, %rd27;
	shr.u64 	%rd29, %rd27, 32;
	cvt.u32.u64 	%r10, %rd29;
	mov.u32 	%r11, 10049;
	prmt.b32 	%r12, %r9, %r10, %r11;
	cvt.u64.u32 	%rd30, %r12;
	xor.b64  	%rd31, %rd28, %rd27;
	xor.b64  	%rd36, %rd31, %rd30;
	add.s32 	%r13, %r13, 1;
	setp.lt.s32 	%p3, %r13, %r3;
	@%p3 bra 	$L__BB2_2;
$L__BB2_3:
	cvta.to.global.u64 	%rd32, %rd6;
	shl.b64 	%rd33, %rd1, 3;
	add.s64 	%rd34, %rd32, %rd33;
	st.global.u64 	[%rd34], %rd36;
	ret;
}
.func  (.param .b64 func_retval0) _Z6hornerPKdid(
	.param .b64 _Z6hornerPKdid_param_0,
	.param .b32 _Z6hornerPKdid_param_1,
	.param .b64 _Z6hornerPKdid_param_2
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .f64 	%fd<8>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [_Z6hornerPKdid_param_0];
	ld.param.u32 	%r1, [_Z6hornerPKdid_param_1];
	ld.param.f64 	%fd3, [_Z6hornerPKdid_param_2];
	setp.eq.s32 	%p1, %r1, 0;
	mov.f64 	%fd7, 0d0000000000000000;
	@%p1 bra 	$L__BB3_2;
	ld.f64 	%fd5, [%rd1];
	add.s32 	%r2, %r1, -1;
	add.s64 	%rd2, %rd1, 8;
	{
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd2;
	.param .b32 param1;
	st.param.b32 	[param1+0], %r2;
	.param .b64 param2;
	st.param.f64 	[param2+0], %fd3;
	.param .b64 retval0;
	call.uni (retval0),
	_Z6hornerPKdid,
	(
	param0,
	param1,
	param2
	);
	ld.param.f64 	%fd6, [retval0+0];
	}
	fma.rn.f64 	%fd7, %fd6, %fd3, %fd5;
$L__BB3_2:
	st.param.f64 	[func_retval0+0], %fd7;
	ret;
}
.visible .entry polynomial(
	.param .u64 polynomial_param_0,
	.param .u64 polynomial_param_1,
	.param .u32 polynomial_param_2
)
{
	.local .align 16 .b8 	__local_depot4[64];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .b32 	%r<3>;
	.reg .f64 	%fd<20>;
	.reg .b64 	%rd<9>;
	mov.u64 	%SPL, __local_depot4;
	cvta.local.u64 	%SP, %SPL;
	ld.param.u64 	%rd1, [polynomial_param_0];
	ld.param.u64 	%rd2, [polynomial_param_1];
	ld.param.u32 	%r1, [polynomial_param_2];
	cvta.to.global.u64 	%rd3, %rd2;
	add.u64 	%rd4, %SP, 0;
	add.u64 	%rd5, %SPL, 0;
	mov.u32 	%r2, %tid.x;
	cvt.rn.f64.u32 	%fd1, %r2;
	ld.global.f64 	%fd2, [%rd3];
	ld.global.f64 	%fd3, [%rd3+8];
	add.f64 	%fd4, %fd3, %fd1;
	add.f64 	%fd5, %fd2, %fd1;
	st.local.v2.f64 	[%rd5], {%fd5, %fd4};
	ld.global.f64 	%fd6, [%rd3+16];
	ld.global.f64 	%fd7, [%rd3+24];
	add.f64 	%fd8, %fd7, %fd1;
	add.f64 	%fd9, %fd6, %fd1;
	st.local.v2.f64 	[%rd5+16], {%fd9, %fd8};
	ld.global.f64 	%fd10, [%rd3+32];
	ld.global.f64 	%fd11, [%rd3+40];
	add.f64 	%fd12, %fd11, %fd1;
	add.f64 	%fd13, %fd10, %fd1;
	st.local.v2.f64 	[%rd5+32], {%fd13, %fd12};
	ld.global.f64 	%fd14, [%rd3+48];
	ld.global.f64 	%fd15, [%rd3+56];
	add.f64 	%fd16, %fd15, %fd1;
	add.f64 	%fd17, %fd14, %fd1;
	st.local.v2.f64 	[%rd5+48], {%fd17, %fd16};
	cvta.to.global.u64 	%rd6, %rd1;
	ld.global.f64 	%fd18, [%rd3+64];
	{
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd4;
	.param .b32 param1;
	st.param.b32 	[param1+0], %r1;
	.param .b64 param2;
	st.param.f64 	[param2+0], %fd18;
	.param .b64 retval0;
	call.uni (retval0),
	_Z6hornerPKdid,
	(
	param0,
	param1,
	param2
	);
	ld.param.f64 	%fd19, [retval0+0];
	}
	mul.wide.u32 	%rd7, %r2, 8;
	add.s64 	%rd8, %rd6, %rd7;
	st.global.f64 	[%rd8], %fd19;
	ret;
}
.visible .entry multiply_tiles(
	.param .u64 multiply_tiles_param_0,
	.param .u64 multiply_tiles_param_1,
	.param .u64 multiply_tiles_param_2,
	.param .u32 multiply_tiles_param_3
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<65>;
	.reg .b32 	%r<23>;
	.reg .b64 	%rd<13>;
	ld.param.u64 	%rd7, [multiply_tiles_param_0];
	ld.param.u64 	%rd8, [multiply_tiles_param_1];
	ld.param.u64 	%rd9, [multiply_tiles_param_2];
	ld.param.u32 	%r3, [multiply_tiles_param_3];
	setp.lt.s32 	%p1, %r3, 1;
	mov.f32 	%f57, 0f00000000;
	mov.f32 	%f58, %f57;
	mov.f32 	%f59, %f57;
	mov.f32 	%f60, %f57;
	mov.f32 	%f61, %f57;
	mov.f32 	%f62, %f57;
	mov.f32 	%f63, %f57;
	mov.f32 	%f64, %f57;
	@%p1 bra 	$L__BB0_4;
	cvta.to.global.u64 	%rd12, %rd9;
	cvta.to.global.u64 	%rd11, %rd8;
	mov.u32 	%r22, 0;
	mov.f32 	%f49, 0f00000000;
	mov.f32 	%f50, %f49;
	mov.f32 	%f51, %f49;
	mov.f32 	%f52, %f49;
	mov.f32 	%f53, %f49;
	mov.f32 	%f54, %f49;
	mov.f32 	%f55, %f49;
	mov.f32 	%f56, %f49;
$L__BB0_2:
	.pragma "nounroll";
	wmma.load.a.sync.aligned.row.m16n16k16.global.f16 	{%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12}, [%rd11], %r3;
	wmma.load.b.sync.aligned.col.m16n16k16.global.f16 	{%r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}, [%rd12], %r3;
	wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f56, %f55, %f54, %f53, %f52, %f51, %f50, %f49}, {%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12}, {%r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20}, {%f56, %f55, %f54, %f53, %f52, %f51, %f50, %f49};
	add.s64 	%rd12, %rd12, 32;
	add.s64 	%rd11, %rd11, 32;
	add.s32 	%r22, %r22, 16;
	setp.lt.s32 	%p2, %r22, %r3;
	@%p2 bra 	$L__BB0_2;
	mul.f32 	%f64, %f56, 0f3F000000;
	mul.f32 	%f63, %f55, 0f3F000000;
	mul.f32 	%f62, %f54, 0f3F000000;
	mul.f32 	%f61, %f53, 0f3F000000;
	mul.f32 	%f60, %f52, 0f3F000000;
	mul.f32 	%f59, %f51, 0f3F000000;
	mul.f32 	%f58, %f50, 0f3F000000;
	mul.f32 	%f57, %f49, 0f3F000000;
$L__BB0_4:
	cvta.to.global.u64 	%rd10, %rd7;
	mov.u32 	%r21, 16;
	wmma.store.d.sync.aligned.row.m16n16k16.global.f32 	[%rd10], {%f64, %f63, %f62, %f61, %f60, %f59, %f58, %f57}, %r21;
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
