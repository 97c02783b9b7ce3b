// What nvcc 13.0 makes of these kernels with -ptx -arch=compute_80, without comments and empty lines:
//
//     extern "C" __global__ void gelu(float* out, const float* in, int n) {
//       const int i = blockIdx.x * blockDim.x + threadIdx.x;
//       if (i < n) {
//         const float x = in[i];
//         out[i] = 0.5f * x * (1 + erff(x * 0.70710678f));
//       }
//     }
//     extern "C" __global__ void multiply(float* c, const float* a, const float* b, int n) {
//       const int row = blockIdx.y * blockDim.y + threadIdx.y;
//       const int column = blockIdx.x * blockDim.x + threadIdx.x;
//       float sum = 0;
//     #pragma unroll 4
//       for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
//       c[row * n + column] = sum;
//     }
//     extern "C" __global__ void multiply_tiles(float* c, const float* a, const float* b, int n) {
//       __shared__ float rows[16][16], columns[16][16];
//       const int x = threadIdx.x, y = threadIdx.y;
//       const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
//       float sum = 0;
//       for (int first = 0; first < n; first += 16) {
//         rows[y][x] = a[row * n + first + x];
//         columns[y][x] = b[(first + y) * n + column];
//         __syncthreads();
//     #pragma unroll
//         for (int k = 0; k < 16; ++k) sum += rows[y][k] * columns[k][x];
//         __syncthreads();
//       }
//       c[row * n + column] = sum;
//     }
//     extern "C" __global__ void row_norms(float* out, const float* in, const float* unused, int n) {
//       __shared__ float partial[8];
//       const float* row = in + blockIdx.x * n;
//       float sum = 0;
//       for (int i = threadIdx.x; i < n; i += 256) sum += row[i] * row[i];
//     #pragma unroll
//       for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
//       if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
//       __syncthreads();
//       sum = 0;
//       for (int k = 0; k < 8; ++k) sum += partial[k];
//       const float scale = rsqrtf(sum / n + 1e-5f);
//       for (int i = threadIdx.x; i < n; i += 256) out[blockIdx.x * n + i] = row[i] * scale;
//     }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kFloatKernels = R"ptx(.version 9.0
.target sm_80
.address_size 64
.visible .entry gelu(
	.param .u64 gelu_param_0,
	.param .u64 gelu_param_1,
	.param .u32 gelu_param_2
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<31>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<10>;
	ld.param.u64 	%rd2, [gelu_param_0];
	ld.param.u64 	%rd3, [gelu_param_1];
	ld.param.u32 	%r2, [gelu_param_2];
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r3, %r4, %r5;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB0_4;
	cvta.to.global.u64 	%rd4, %rd3;
	cvt.s64.s32 	%rd1, %r1;
	mul.wide.s32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd4, %rd5;
	ld.global.f32 	%f1, [%rd6];
	mul.f32 	%f2, %f1, 0f3F3504F3;
	abs.f32 	%f6, %f2;
	setp.ltu.f32 	%p2, %f6, 0f3F8060FE;
	setp.ge.f32 	%p3, %f6, 0f3F8060FE;
	mul.f32 	%f7, %f2, %f2;
	selp.f32 	%f8, %f6, %f7, %p3;
	selp.f32 	%f9, 0f38EB4C3A, 0f38B1E96A, %p3;
	selp.f32 	%f10, 0fBAAE005B, 0fBA574D20, %p3;
	fma.rn.f32 	%f11, %f9, %f8, %f10;
	selp.f32 	%f12, 0f3C09919F, 0f3BAAD5EA, %p3;
	fma.rn.f32 	%f13, %f11, %f8, %f12;
	selp.f32 	%f14, 0fBD24D99A, 0fBCDC1BE7, %p3;
	fma.rn.f32 	%f15, %f13, %f8, %f14;
	selp.f32 	%f16, 0f3E235519, 0f3DE718AF, %p3;
	fma.rn.f32 	%f17, %f15, %f8, %f16;
	selp.f32 	%f18, 0f3F69B4F9, 0fBEC093AC, %p3;
	fma.rn.f32 	%f19, %f17, %f8, %f18;
	selp.f32 	%f20, 0f3F210A14, 0f3E0375D3, %p3;
	fma.rn.f32 	%f21, %f19, %f8, %f20;
	neg.f32 	%f22, %f6;
	selp.f32 	%f23, %f22, %f2, %p3;
	fma.rn.f32 	%f30, %f21, %f23, %f23;
	@%p2 bra 	$L__BB0_3;
	ex2.approx.ftz.f32 	%f24, %f30;
	mov.f32 	%f25, 0f3F800000;
	sub.f32 	%f26, %f25, %f24;
	copysign.f32 	%f30, %f2, %f26;
$L__BB0_3:
	add.f32 	%f27, %f30, 0f3F800000;
	mul.f32 	%f28, %f1, 0f3F000000;
	mul.f32 	%f29, %f28, %f27;
	cvta.to.global.u64 	%rd7, %rd2;
	shl.b64 	%rd8, %rd1, 2;
	add.s64 	%rd9, %rd7, %rd8;
	st.global.f32 	[%rd9], %f29;
$L__BB0_4:
	ret;
}
.visible .entry multiply(
	.param .u64 multiply_param_0,
	.param .u64 multiply_param_1,
	.param .u64 multiply_param_2,
	.param .u32 multiply_param_3
)
{
	.reg .pred 	%p<6>;
	.reg .f32 	%f<30>;
	.reg .b32 	%r<30>;
	.reg .b64 	%rd<34>;
	ld.param.u64 	%rd17, [multiply_param_0];
	ld.param.u64 	%rd18, [multiply_param_1];
	ld.param.u64 	%rd19, [multiply_param_2];
	ld.param.u32 	%r12, [multiply_param_3];
	cvta.to.global.u64 	%rd1, %rd19;
	cvta.to.global.u64 	%rd2, %rd18;
	mov.u32 	%r13, %ntid.y;
	mov.u32 	%r14, %ctaid.y;
	mov.u32 	%r15, %tid.y;
	mad.lo.s32 	%r16, %r14, %r13, %r15;
	mov.u32 	%r17, %ntid.x;
	mov.u32 	%r18, %ctaid.x;
	mov.u32 	%r19, %tid.x;
	mad.lo.s32 	%r1, %r18, %r17, %r19;
	mul.lo.s32 	%r2, %r16, %r12;
	setp.lt.s32 	%p1, %r12, 1;
	mov.f32 	%f29, 0f00000000;
	@%p1 bra 	$L__BB1_7;
	add.s32 	%r21, %r12, -1;
	and.b32  	%r29, %r12, 3;
	setp.lt.u32 	%p2, %r21, 3;
	mov.f32 	%f29, 0f00000000;
	mov.u32 	%r28, 0;
	@%p2 bra 	$L__BB1_4;
	sub.s32 	%r27, %r12, %r29;
	mul.wide.s32 	%rd3, %r2, 4;
	mul.wide.s32 	%rd20, %r1, 4;
	add.s64 	%rd30, %rd1, %rd20;
	mul.wide.s32 	%rd5, %r12, 4;
	mov.f32 	%f29, 0f00000000;
	mov.u32 	%r28, 0;
	mov.u64 	%rd31, %rd2;
$L__BB1_3:
	.pragma "nounroll";
	add.s64 	%rd21, %rd31, %rd3;
	ld.global.f32 	%f12, [%rd30];
	ld.global.f32 	%f13, [%rd21];
	fma.rn.f32 	%f14, %f13, %f12, %f29;
	add.s64 	%rd22, %rd30, %rd5;
	ld.global.f32 	%f15, [%rd22];
	ld.global.f32 	%f16, [%rd21+4];
	fma.rn.f32 	%f17, %f16, %f15, %f14;
	add.s64 	%rd23, %rd22, %rd5;
	ld.global.f32 	%f18, [%rd23];
	ld.global.f32 	%f19, [%rd21+8];
	fma.rn.f32 	%f20, %f19, %f18, %f17;
	add.s64 	%rd24, %rd23, %rd5;
	add.s64 	%rd30, %rd24, %rd5;
	ld.global.f32 	%f21, [%rd24];
	ld.global.f32 	%f22, [%rd21+12];
	fma.rn.f32 	%f29, %f22, %f21, %f20;
	add.s32 	%r28, %r28, 4;
	add.s64 	%rd31, %rd31, 16;
	add.s32 	%r27, %r27, -4;
	setp.ne.s32 	%p3, %r27, 0;
	@%p3 bra 	$L__BB1_3;
$L__BB1_4:
	setp.eq.s32 	%p4, %r29, 0;
	@%p4 bra 	$L__BB1_7;
	mad.lo.s32 	%r23, %r28, %r12, %r1;
	mul.wide.s32 	%rd25, %r23, 4;
	add.s64 	%rd33, %rd1, %rd25;
	mul.wide.s32 	%rd11, %r12, 4;
	add.s32 	%r24, %r28, %r2;
	mul.wide.s32 	%rd26, %r24, 4;
	add.s64 	%rd32, %rd2, %rd26;
$L__BB1_6:
	.pragma "nounroll";
	ld.global.f32 	%f23, [%rd33];
	ld.global.f32 	%f24, [%rd32];
	fma.rn.f32 	%f29, %f24, %f23, %f29;
	add.s64 	%rd33, %rd33, %rd11;
	add.s64 	%rd32, %rd32, 4;
	add.s32 	%r29, %r29, -1;
	setp.ne.s32 	%p5, %r29, 0;
	@%p5 bra 	$L__BB1_6;
$L__BB1_7:
	add.s32 	%r25, %r2, %r1;
	cvta.to.global.u64 	%rd27, %rd17;
	mul.wide.s32 	%rd28, %r25, 4;
	add.s64 	%rd29, %rd27, %rd28;
	st.global.f32 	[%rd29], %f29;
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
	.reg .f32 	%f<57>;
	.reg .b32 	%r<29>;
	.reg .b64 	%rd<20>;
	.shared .align 4 .b8 _ZZ14multiply_tilesE4rows[1024];
	.shared .align 4 .b8 _ZZ14multiply_tilesE7columns[1024];
	ld.param.u64 	%rd8, [multiply_tiles_param_0];
	ld.param.u64 	%rd9, [multiply_tiles_param_1];
	ld.param.u64 	%rd10, [multiply_tiles_param_2];
	ld.param.u32 	%r11, [multiply_tiles_param_3];
	mov.u32 	%r12, %ctaid.y;
	shl.b32 	%r13, %r12, 4;
	mov.u32 	%r1, %tid.y;
	add.s32 	%r14, %r13, %r1;
	mov.u32 	%r15, %ctaid.x;
	shl.b32 	%r2, %r15, 4;
	mov.u32 	%r3, %tid.x;
	mul.lo.s32 	%r4, %r14, %r11;
	setp.lt.s32 	%p1, %r11, 1;
	mov.f32 	%f56, 0f00000000;
	@%p1 bra 	$L__BB2_3;
	shl.b32 	%r17, %r1, 6;
	mov.u32 	%r18, _ZZ14multiply_tilesE4rows;
	add.s32 	%r7, %r18, %r17;
	shl.b32 	%r19, %r3, 2;
	add.s32 	%r5, %r7, %r19;
	mov.u32 	%r20, _ZZ14multiply_tilesE7columns;
	add.s32 	%r21, %r20, %r17;
	add.s32 	%r6, %r21, %r19;
	add.s32 	%r8, %r20, %r19;
	mad.lo.s32 	%r22, %r1, %r11, %r3;
	add.s32 	%r23, %r22, %r2;
	cvta.to.global.u64 	%rd11, %rd10;
	mul.wide.s32 	%rd12, %r23, 4;
	add.s64 	%rd19, %rd11, %rd12;
	shl.b32 	%r24, %r11, 4;
	mul.wide.s32 	%rd2, %r24, 4;
	add.s32 	%r25, %r3, %r4;
	cvta.to.global.u64 	%rd13, %rd9;
	mul.wide.s32 	%rd14, %r25, 4;
	add.s64 	%rd18, %rd13, %rd14;
	mov.f32 	%f56, 0f00000000;
	mov.u32 	%r28, 0;
$L__BB2_2:
	ld.global.f32 	%f6, [%rd18];
	st.shared.f32 	[%r5], %f6;
	ld.global.f32 	%f7, [%rd19];
	st.shared.f32 	[%r6], %f7;
	bar.sync 	0;
	ld.shared.f32 	%f8, [%r8];
	ld.shared.f32 	%f9, [%r7];
	fma.rn.f32 	%f10, %f9, %f8, %f56;
	ld.shared.f32 	%f11, [%r8+64];
	ld.shared.f32 	%f12, [%r7+4];
	fma.rn.f32 	%f13, %f12, %f11, %f10;
	ld.shared.f32 	%f14, [%r8+128];
	ld.shared.f32 	%f15, [%r7+8];
	fma.rn.f32 	%f16, %f15, %f14, %f13;
	ld.shared.f32 	%f17, [%r8+192];
	ld.shared.f32 	%f18, [%r7+12];
	fma.rn.f32 	%f19, %f18, %f17, %f16;
	ld.shared.f32 	%f20, [%r8+256];
	ld.shared.f32 	%f21, [%r7+16];
	fma.rn.f32 	%f22, %f21, %f20, %f19;
	ld.shared.f32 	%f23, [%r8+320];
	ld.shared.f32 	%f24, [%r7+20];
	fma.rn.f32 	%f25, %f24, %f23, %f22;
	ld.shared.f32 	%f26, [%r8+384];
	ld.shared.f32 	%f27, [%r7+24];
	fma.rn.f32 	%f28, %f27, %f26, %f25;
	ld.shared.f32 	%f29, [%r8+448];
	ld.shared.f32 	%f30, [%r7+28];
	fma.rn.f32 	%f31, %f30, %f29, %f28;
	ld.shared.f32 	%f32, [%r8+512];
	ld.shared.f32 	%f33, [%r7+32];
	fma.rn.f32 	%f34, %f33, %f32, %f31;
	ld.shared.f32 	%f35, [%r8+576];
	ld.shared.f32 	%f36, [%r7+36];
	fma.rn.f32 	%f37, %f36, %f35, %f34;
	ld.shared.f32 	%f38, [%r8+640];
	ld.shared.f32 	%f39, [%r7+40];
	fma.rn.f32 	%f40, %f39, %f38, %f37;
	ld.shared.f32 	%f41, [%r8+704];
	ld.shared.f32 	%f42, [%r7+44];
	fma.rn.f32 	%f43, %f42, %f41, %f40;
	ld.shared.f32 	%f44, [%r8+768];
	ld.shared.f32 	%f45, [%r7+48];
	fma.rn.f32 	%f46, %f45, %f44, %f43;
	ld.shared.f32 	%f47, [%r8+832];
	ld.shared.f32 	%f48, [%r7+52];
	fma.rn.f32 	%f49, %f48, %f47, %f46;
	ld.shared.f32 	%f50, [%r8+896];
	ld.shared.f32 	%f51, [%r7+56];
	fma.rn.f32 	%f52, %f51, %f50, %f49;
	ld.shared.f32 	%f53, [%r8+960];
	ld.shared.f32 	%f54, [%r7+60];
	fma.rn.f32 	%f56, %f54, %f53, %f52;
	bar.sync 	0;
	add.s64 	%rd19, %rd19, %rd2;
	add.s64 	%rd18, %rd18, 64;
	add.s32 	%r28, %r28, 16;
	setp.lt.s32 	%p2, %r28, %r11;
	@%p2 bra 	$L__BB2_2;
$L__BB2_3:
	add.s32 	%r26, %r2, %r3;
	add.s32 	%r27, %r4, %r26;
	cvta.to.global.u64 	%rd15, %rd8;
	mul.wide.s32 	%rd16, %r27, 4;
	add.s64 	%rd17, %rd15, %rd16;
	st.global.f32 	[%rd17], %f56;
	ret;
}
.visible .entry row_norms(
	.param .u64 row_norms_param_0,
	.param .u64 row_norms_param_1,
	.param .u64 row_norms_param_2,
	.param .u32 row_norms_param_3
)
{
	.reg .pred 	%p<17>;
	.reg .f32 	%f<65>;
	.reg .b32 	%r<73>;
	.reg .b64 	%rd<44>;
	.shared .align 4 .b8 _ZZ9row_normsE7partial[32];
	ld.param.u64 	%rd16, [row_norms_param_0];
	ld.param.u64 	%rd17, [row_norms_param_1];
	ld.param.u32 	%r26, [row_norms_param_3];
	cvta.to.global.u64 	%rd1, %rd16;
	cvta.to.global.u64 	%rd2, %rd17;
	mov.u32 	%r27, %ctaid.x;
	mul.lo.s32 	%r28, %r27, %r26;
	cvt.u64.u32 	%rd3, %r28;
	mov.u32 	%r70, %tid.x;
	setp.ge.s32 	%p1, %r70, %r26;
	mov.f32 	%f64, 0f00000000;
	@%p1 bra 	$L__BB3_7;
	not.b32 	%r29, %r70;
	add.s32 	%r2, %r29, %r26;
	shr.u32 	%r30, %r2, 8;
	add.s32 	%r31, %r30, 1;
	and.b32  	%r64, %r31, 3;
	setp.eq.s32 	%p2, %r64, 0;
	mov.f32 	%f64, 0f00000000;
	mov.u32 	%r65, %r70;
	@%p2 bra 	$L__BB3_4;
	cvt.s64.s32 	%rd18, %r70;
	add.s64 	%rd19, %rd18, %rd3;
	shl.b64 	%rd20, %rd19, 2;
	add.s64 	%rd40, %rd2, %rd20;
	mov.f32 	%f64, 0f00000000;
	mov.u32 	%r65, %r70;
$L__BB3_3:
	.pragma "nounroll";
	ld.global.f32 	%f14, [%rd40];
	fma.rn.f32 	%f64, %f14, %f14, %f64;
	add.s32 	%r65, %r65, 256;
	add.s64 	%rd40, %rd40, 1024;
	add.s32 	%r64, %r64, -1;
	setp.ne.s32 	%p3, %r64, 0;
	@%p3 bra 	$L__BB3_3;
$L__BB3_4:
	setp.lt.u32 	%p4, %r2, 768;
	@%p4 bra 	$L__BB3_7;
	cvt.s64.s32 	%rd21, %r65;
	add.s64 	%rd22, %rd21, %rd3;
	shl.b64 	%rd23, %rd22, 2;
	add.s64 	%rd41, %rd2, %rd23;
$L__BB3_6:
	ld.global.f32 	%f15, [%rd41];
	fma.rn.f32 	%f16, %f15, %f15, %f64;
	ld.global.f32 	%f17, [%rd41+1024];
	fma.rn.f32 	%f18, %f17, %f17, %f16;
	ld.global.f32 	%f19, [%rd41+2048];
	fma.rn.f32 	%f20, %f19, %f19, %f18;
	ld.global.f32 	%f21, [%rd41+3072];
	fma.rn.f32 	%f64, %f21, %f21, %f20;
	add.s64 	%rd41, %rd41, 4096;
	add.s32 	%r65, %r65, 1024;
	setp.lt.s32 	%p5, %r65, %r26;
	@%p5 bra 	$L__BB3_6;
$L__BB3_7:
	mov.b32 	%r32, %f64;
	mov.u32 	%r33, 31;
	mov.u32 	%r34, 16;
	mov.u32 	%r35, -1;
	shfl.sync.bfly.b32 	%r36|%p6, %r32, %r34, %r33, %r35;
	mov.b32 	%f22, %r36;
	add.f32 	%f23, %f64, %f22;
	mov.b32 	%r37, %f23;
	mov.u32 	%r38, 8;
	shfl.sync.bfly.b32 	%r39|%p7, %r37, %r38, %r33, %r35;
	mov.b32 	%f24, %r39;
	add.f32 	%f25, %f23, %f24;
	mov.b32 	%r40, %f25;
	mov.u32 	%r41, 4;
	shfl.sync.bfly.b32 	%r42|%p8, %r40, %r41, %r33, %r35;
	mov.b32 	%f26, %r42;
	add.f32 	%f27, %f25, %f26;
	mov.b32 	%r43, %f27;
	mov.u32 	%r44, 2;
	shfl.sync.bfly.b32 	%r45|%p9, %r43, %r44, %r33, %r35;
	mov.b32 	%f28, %r45;
	add.f32 	%f29, %f27, %f28;
	mov.b32 	%r46, %f29;
	mov.u32 	%r47, 1;
	shfl.sync.bfly.b32 	%r48|%p10, %r46, %r47, %r33, %r35;
	mov.b32 	%f30, %r48;
	add.f32 	%f8, %f29, %f30;
	and.b32  	%r49, %r70, 31;
	setp.ne.s32 	%p11, %r49, 0;
	@%p11 bra 	$L__BB3_9;
	shr.u32 	%r50, %r70, 3;
	and.b32  	%r51, %r50, 536870908;
	mov.u32 	%r52, _ZZ9row_normsE7partial;
	add.s32 	%r53, %r52, %r51;
	st.shared.f32 	[%r53], %f8;
$L__BB3_9:
	bar.sync 	0;
	ld.shared.f32 	%f31, [_ZZ9row_normsE7partial];
	add.f32 	%f32, %f31, 0f00000000;
	ld.shared.f32 	%f33, [_ZZ9row_normsE7partial+4];
	add.f32 	%f34, %f32, %f33;
	ld.shared.f32 	%f35, [_ZZ9row_normsE7partial+8];
	add.f32 	%f36, %f34, %f35;
	ld.shared.f32 	%f37, [_ZZ9row_normsE7partial+12];
	add.f32 	%f38, %f36, %f37;
	ld.shared.f32 	%f39, [_ZZ9row_normsE7partial+16];
	add.f32 	%f40, %f38, %f39;
	ld.shared.f32 	%f41, [_ZZ9row_normsE7partial+20];
	add.f32 	%f42, %f40, %f41;
	ld.shared.f32 	%f43, [_ZZ9row_normsE7partial+24];
	add.f32 	%f44, %f42, %f43;
	ld.shared.f32 	%f45, [_ZZ9row_normsE7partial+28];
	add.f32 	%f46, %f44, %f45;
	cvt.rn.f32.s32 	%f47, %r26;
	div.rn.f32 	%f48, %f46, %f47;
	add.f32 	%f49, %f48, 0f3727C5AC;
	rsqrt.approx.f32 	%f9, %f49;
	@%p1 bra 	$L__BB3_16;
	not.b32 	%r54, %r70;
	add.s32 	%r11, %r54, %r26;
	shr.u32 	%r55, %r11, 8;
	add.s32 	%r56, %r55, 1;
	and.b32  	%r69, %r56, 3;
	setp.eq.s32 	%p13, %r69, 0;
	@%p13 bra 	$L__BB3_13;
	cvt.u32.u64 	%r57, %rd3;
	add.s32 	%r67, %r70, %r57;
	cvt.s64.s32 	%rd24, %r70;
	add.s64 	%rd25, %rd24, %rd3;
	shl.b64 	%rd26, %rd25, 2;
	add.s64 	%rd42, %rd2, %rd26;
$L__BB3_12:
	.pragma "nounroll";
	ld.global.f32 	%f50, [%rd42];
	mul.f32 	%f51, %f9, %f50;
	mul.wide.u32 	%rd27, %r67, 4;
	add.s64 	%rd28, %rd1, %rd27;
	st.global.f32 	[%rd28], %f51;
	add.s32 	%r70, %r70, 256;
	add.s32 	%r67, %r67, 256;
	add.s64 	%rd42, %rd42, 1024;
	add.s32 	%r69, %r69, -1;
	setp.ne.s32 	%p14, %r69, 0;
	@%p14 bra 	$L__BB3_12;
$L__BB3_13:
	setp.lt.u32 	%p15, %r11, 768;
	@%p15 bra 	$L__BB3_16;
	cvt.u32.u64 	%r58, %rd3;
	add.s32 	%r59, %r70, %r58;
	add.s32 	%r71, %r59, 768;
	cvt.s64.s32 	%rd29, %r70;
	add.s64 	%rd30, %rd29, %rd3;
	shl.b64 	%rd31, %rd30, 2;
	add.s64 	%rd43, %rd2, %rd31;
$L__BB3_15:
	ld.global.f32 	%f52, [%rd43];
	mul.f32 	%f53, %f9, %f52;
	add.s32 	%r60, %r71, -768;
	mul.wide.u32 	%rd32, %r60, 4;
	add.s64 	%rd33, %rd1, %rd32;
	st.global.f32 	[%rd33], %f53;
	ld.global.f32 	%f54, [%rd43+1024];
	mul.f32 	%f55, %f9, %f54;
	add.s32 	%r61, %r71, -512;
	mul.wide.u32 	%rd34, %r61, 4;
	add.s64 	%rd35, %rd1, %rd34;
	st.global.f32 	[%rd35], %f55;
	ld.global.f32 	%f56, [%rd43+2048];
	mul.f32 	%f57, %f9, %f56;
	add.s32 	%r62, %r71, -256;
	mul.wide.u32 	%rd36, %r62, 4;
	add.s64 	%rd37, %rd1, %rd36;
	st.global.f32 	[%rd37], %f57;
	ld.global.f32 	%f58, [%rd43+3072];
	mul.f32 	%f59, %f9, %f58;
	mul.wide.u32 	%rd38, %r71, 4;
	add.s64 	%rd39, %rd1, %rd38;
	st.global.f32 	[%rd39], %f59;
	add.s32 	%r71, %r71, 1024;
	add.s64 	%rd43, %rd43, 4096;
	add.s32 	%r70, %r70, 1024;
	setp.lt.s32 	%p16, %r70, %r26;
	@%p16 bra 	$L__BB3_15;
$L__BB3_16:
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
