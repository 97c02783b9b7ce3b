// What nvcc 13.0 makes of these kernels with -ptx -arch=compute_80, without comments and with several
// statements in a line:
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
//     #pragma unroll 1
//       for (int i = threadIdx.x; i < n; i += 256) sum += row[i] * row[i];
//     #pragma unroll
//       for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
//       if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
//       __syncthreads();
//       sum = 0;
//       for (int k = 0; k < 8; ++k) sum += partial[k];
//       const float scale = rsqrtf(sum / n + 1e-5f);
//     #pragma unroll 1
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
.reg .pred %p<4>;
.reg .f32 %f<31>;
.reg .b32 %r<6>;
.reg .b64 %rd<10>; ld.param.u64 %rd2, [gelu_param_0]; ld.param.u64 %rd3, [gelu_param_1];
ld.param.u32 %r2, [gelu_param_2]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.s32 %r1, %r3, %r4, %r5; setp.ge.s32 %p1, %r1, %r2; @%p1 bra $L__BB0_4; cvta.to.global.u64 %rd4, %rd3;
cvt.s64.s32 %rd1, %r1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5; ld.global.f32 %f1, [%rd6];
mul.f32 %f2, %f1, 0f3F3504F3; abs.f32 %f6, %f2; setp.ltu.f32 %p2, %f6, 0f3F8060FE;
setp.ge.f32 %p3, %f6, 0f3F8060FE; mul.f32 %f7, %f2, %f2; selp.f32 %f8, %f6, %f7, %p3;
selp.f32 %f9, 0f38EB4C3A, 0f38B1E96A, %p3; selp.f32 %f10, 0fBAAE005B, 0fBA574D20, %p3;
fma.rn.f32 %f11, %f9, %f8, %f10; selp.f32 %f12, 0f3C09919F, 0f3BAAD5EA, %p3; fma.rn.f32 %f13, %f11, %f8, %f12;
selp.f32 %f14, 0fBD24D99A, 0fBCDC1BE7, %p3; fma.rn.f32 %f15, %f13, %f8, %f14;
selp.f32 %f16, 0f3E235519, 0f3DE718AF, %p3; fma.rn.f32 %f17, %f15, %f8, %f16;
selp.f32 %f18, 0f3F69B4F9, 0fBEC093AC, %p3; fma.rn.f32 %f19, %f17, %f8, %f18;
selp.f32 %f20, 0f3F210A14, 0f3E0375D3, %p3; fma.rn.f32 %f21, %f19, %f8, %f20; neg.f32 %f22, %f6;
selp.f32 %f23, %f22, %f2, %p3; fma.rn.f32 %f30, %f21, %f23, %f23; @%p2 bra $L__BB0_3;
ex2.approx.ftz.f32 %f24, %f30; mov.f32 %f25, 0f3F800000; sub.f32 %f26, %f25, %f24;
copysign.f32 %f30, %f2, %f26;
$L__BB0_3:
add.f32 %f27, %f30, 0f3F800000; mul.f32 %f28, %f1, 0f3F000000; mul.f32 %f29, %f28, %f27;
cvta.to.global.u64 %rd7, %rd2; shl.b64 %rd8, %rd1, 2; add.s64 %rd9, %rd7, %rd8; st.global.f32 [%rd9], %f29;
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
.reg .pred %p<6>;
.reg .f32 %f<30>;
.reg .b32 %r<30>;
.reg .b64 %rd<34>; ld.param.u64 %rd17, [multiply_param_0]; ld.param.u64 %rd18, [multiply_param_1];
ld.param.u64 %rd19, [multiply_param_2]; ld.param.u32 %r12, [multiply_param_3]; cvta.to.global.u64 %rd1, %rd19;
cvta.to.global.u64 %rd2, %rd18; mov.u32 %r13, %ntid.y; mov.u32 %r14, %ctaid.y; mov.u32 %r15, %tid.y;
mad.lo.s32 %r16, %r14, %r13, %r15; mov.u32 %r17, %ntid.x; mov.u32 %r18, %ctaid.x; mov.u32 %r19, %tid.x;
mad.lo.s32 %r1, %r18, %r17, %r19; mul.lo.s32 %r2, %r16, %r12; setp.lt.s32 %p1, %r12, 1;
mov.f32 %f29, 0f00000000; @%p1 bra $L__BB1_7; add.s32 %r21, %r12, -1; and.b32 %r29, %r12, 3;
setp.lt.u32 %p2, %r21, 3; mov.f32 %f29, 0f00000000; mov.u32 %r28, 0; @%p2 bra $L__BB1_4;
sub.s32 %r27, %r12, %r29; mul.wide.s32 %rd3, %r2, 4; mul.wide.s32 %rd20, %r1, 4; add.s64 %rd30, %rd1, %rd20;
mul.wide.s32 %rd5, %r12, 4; mov.f32 %f29, 0f00000000; mov.u32 %r28, 0; mov.u64 %rd31, %rd2;
$L__BB1_3:
.pragma "nounroll"; add.s64 %rd21, %rd31, %rd3; ld.global.f32 %f12, [%rd30]; ld.global.f32 %f13, [%rd21];
fma.rn.f32 %f14, %f13, %f12, %f29; add.s64 %rd22, %rd30, %rd5; ld.global.f32 %f15, [%rd22];
ld.global.f32 %f16, [%rd21+4]; fma.rn.f32 %f17, %f16, %f15, %f14; add.s64 %rd23, %rd22, %rd5;
ld.global.f32 %f18, [%rd23]; ld.global.f32 %f19, [%rd21+8]; fma.rn.f32 %f20, %f19, %f18, %f17;
add.s64 %rd24, %rd23, %rd5; add.s64 %rd30, %rd24, %rd5; ld.global.f32 %f21, [%rd24];
ld.global.f32 %f22, [%rd21+12]; fma.rn.f32 %f29, %f22, %f21, %f20; add.s32 %r28, %r28, 4;
add.s64 %rd31, %rd31, 16; add.s32 %r27, %r27, -4; setp.ne.s32 %p3, %r27, 0; @%p3 bra $L__BB1_3;
$L__BB1_4:
setp.eq.s32 %p4, %r29, 0; @%p4 bra $L__BB1_7; mad.lo.s32 %r23, %r28, %r12, %r1; mul.wide.s32 %rd25, %r23, 4;
add.s64 %rd33, %rd1, %rd25; mul.wide.s32 %rd11, %r12, 4; add.s32 %r24, %r28, %r2; mul.wide.s32 %rd26, %r24, 4;
add.s64 %rd32, %rd2, %rd26;
$L__BB1_6:
.pragma "nounroll"; ld.global.f32 %f23, [%rd33]; ld.global.f32 %f24, [%rd32];
fma.rn.f32 %f29, %f24, %f23, %f29; add.s64 %rd33, %rd33, %rd11; add.s64 %rd32, %rd32, 4;
add.s32 %r29, %r29, -1; setp.ne.s32 %p5, %r29, 0; @%p5 bra $L__BB1_6;
$L__BB1_7:
add.s32 %r25, %r2, %r1; cvta.to.global.u64 %rd27, %rd17; mul.wide.s32 %rd28, %r25, 4;
add.s64 %rd29, %rd27, %rd28; st.global.f32 [%rd29], %f29; ret;
}
.visible .entry multiply_tiles(
.param .u64 multiply_tiles_param_0,
.param .u64 multiply_tiles_param_1,
.param .u64 multiply_tiles_param_2,
.param .u32 multiply_tiles_param_3
)
{
.reg .pred %p<3>;
.reg .f32 %f<57>;
.reg .b32 %r<29>;
.reg .b64 %rd<20>;
.shared .align 4 .b8 _ZZ14multiply_tilesE4rows[1024];
.shared .align 4 .b8 _ZZ14multiply_tilesE7columns[1024]; ld.param.u64 %rd8, [multiply_tiles_param_0];
ld.param.u64 %rd9, [multiply_tiles_param_1]; ld.param.u64 %rd10, [multiply_tiles_param_2];
ld.param.u32 %r11, [multiply_tiles_param_3]; mov.u32 %r12, %ctaid.y; shl.b32 %r13, %r12, 4;
mov.u32 %r1, %tid.y; add.s32 %r14, %r13, %r1; mov.u32 %r15, %ctaid.x; shl.b32 %r2, %r15, 4;
mov.u32 %r3, %tid.x; mul.lo.s32 %r4, %r14, %r11; setp.lt.s32 %p1, %r11, 1; mov.f32 %f56, 0f00000000;
@%p1 bra $L__BB2_3; shl.b32 %r17, %r1, 6; mov.u32 %r18, _ZZ14multiply_tilesE4rows; add.s32 %r7, %r18, %r17;
shl.b32 %r19, %r3, 2; add.s32 %r5, %r7, %r19; mov.u32 %r20, _ZZ14multiply_tilesE7columns;
add.s32 %r21, %r20, %r17; add.s32 %r6, %r21, %r19; add.s32 %r8, %r20, %r19; mad.lo.s32 %r22, %r1, %r11, %r3;
add.s32 %r23, %r22, %r2; cvta.to.global.u64 %rd11, %rd10; mul.wide.s32 %rd12, %r23, 4;
add.s64 %rd19, %rd11, %rd12; shl.b32 %r24, %r11, 4; mul.wide.s32 %rd2, %r24, 4; add.s32 %r25, %r3, %r4;
cvta.to.global.u64 %rd13, %rd9; mul.wide.s32 %rd14, %r25, 4; add.s64 %rd18, %rd13, %rd14;
mov.f32 %f56, 0f00000000; mov.u32 %r28, 0;
$L__BB2_2:
ld.global.f32 %f6, [%rd18]; st.shared.f32 [%r5], %f6; ld.global.f32 %f7, [%rd19]; st.shared.f32 [%r6], %f7;
bar.sync 0; ld.shared.f32 %f8, [%r8]; ld.shared.f32 %f9, [%r7]; fma.rn.f32 %f10, %f9, %f8, %f56;
ld.shared.f32 %f11, [%r8+64]; ld.shared.f32 %f12, [%r7+4]; fma.rn.f32 %f13, %f12, %f11, %f10;
ld.shared.f32 %f14, [%r8+128]; ld.shared.f32 %f15, [%r7+8]; fma.rn.f32 %f16, %f15, %f14, %f13;
ld.shared.f32 %f17, [%r8+192]; ld.shared.f32 %f18, [%r7+12]; fma.rn.f32 %f19, %f18, %f17, %f16;
ld.shared.f32 %f20, [%r8+256]; ld.shared.f32 %f21, [%r7+16]; fma.rn.f32 %f22, %f21, %f20, %f19;
ld.shared.f32 %f23, [%r8+320]; ld.shared.f32 %f24, [%r7+20]; fma.rn.f32 %f25, %f24, %f23, %f22;
ld.shared.f32 %f26, [%r8+384]; ld.shared.f32 %f27, [%r7+24]; fma.rn.f32 %f28, %f27, %f26, %f25;
ld.shared.f32 %f29, [%r8+448]; ld.shared.f32 %f30, [%r7+28]; fma.rn.f32 %f31, %f30, %f29, %f28;
ld.shared.f32 %f32, [%r8+512]; ld.shared.f32 %f33, [%r7+32]; fma.rn.f32 %f34, %f33, %f32, %f31;
ld.shared.f32 %f35, [%r8+576]; ld.shared.f32 %f36, [%r7+36]; fma.rn.f32 %f37, %f36, %f35, %f34;
ld.shared.f32 %f38, [%r8+640]; ld.shared.f32 %f39, [%r7+40]; fma.rn.f32 %f40, %f39, %f38, %f37;
ld.shared.f32 %f41, [%r8+704]; ld.shared.f32 %f42, [%r7+44]; fma.rn.f32 %f43, %f42, %f41, %f40;
ld.shared.f32 %f44, [%r8+768]; ld.shared.f32 %f45, [%r7+48]; fma.rn.f32 %f46, %f45, %f44, %f43;
ld.shared.f32 %f47, [%r8+832]; ld.shared.f32 %f48, [%r7+52]; fma.rn.f32 %f49, %f48, %f47, %f46;
ld.shared.f32 %f50, [%r8+896]; ld.shared.f32 %f51, [%r7+56]; fma.rn.f32 %f52, %f51, %f50, %f49;
ld.shared.f32 %f53, [%r8+960]; ld.shared.f32 %f54, [%r7+60]; fma.rn.f32 %f56, %f54, %f53, %f52; bar.sync 0;
add.s64 %rd19, %rd19, %rd2; add.s64 %rd18, %rd18, 64; add.s32 %r28, %r28, 16; setp.lt.s32 %p2, %r28, %r11;
@%p2 bra $L__BB2_2;
$L__BB2_3:
add.s32 %r26, %r2, %r3; add.s32 %r27, %r4, %r26; cvta.to.global.u64 %rd15, %rd8; mul.wide.s32 %rd16, %r27, 4;
add.s64 %rd17, %rd15, %rd16; st.global.f32 [%rd17], %f56; ret;
}
.visible .entry row_norms(
.param .u64 row_norms_param_0,
.param .u64 row_norms_param_1,
.param .u64 row_norms_param_2,
.param .u32 row_norms_param_3
)
{
.reg .pred %p<11>;
.reg .f32 %f<41>;
.reg .b32 %r<38>;
.reg .b64 %rd<22>;
.shared .align 4 .b8 _ZZ9row_normsE7partial[32]; ld.param.u64 %rd10, [row_norms_param_0];
ld.param.u64 %rd11, [row_norms_param_1]; ld.param.u32 %r9, [row_norms_param_3];
cvta.to.global.u64 %rd1, %rd11; mov.u32 %r10, %ctaid.x; mul.lo.s32 %r11, %r10, %r9; cvt.u64.u32 %rd2, %r11;
mov.u32 %r37, %tid.x; setp.ge.s32 %p1, %r37, %r9; mov.f32 %f40, 0f00000000; @%p1 bra $L__BB3_3;
cvt.s64.s32 %rd12, %r37; add.s64 %rd13, %rd12, %rd2; shl.b64 %rd14, %rd13, 2; add.s64 %rd20, %rd1, %rd14;
mov.f32 %f40, 0f00000000; mov.u32 %r35, %r37;
$L__BB3_2:
.pragma "nounroll"; ld.global.f32 %f8, [%rd20]; fma.rn.f32 %f40, %f8, %f8, %f40; add.s64 %rd20, %rd20, 1024;
add.s32 %r35, %r35, 256; setp.lt.s32 %p2, %r35, %r9; @%p2 bra $L__BB3_2;
$L__BB3_3:
mov.b32 %r12, %f40; mov.u32 %r13, 31; mov.u32 %r14, 16; mov.u32 %r15, -1;
shfl.sync.bfly.b32 %r16|%p3, %r12, %r14, %r13, %r15; mov.b32 %f9, %r16; add.f32 %f10, %f40, %f9;
mov.b32 %r17, %f10; mov.u32 %r18, 8; shfl.sync.bfly.b32 %r19|%p4, %r17, %r18, %r13, %r15; mov.b32 %f11, %r19;
add.f32 %f12, %f10, %f11; mov.b32 %r20, %f12; mov.u32 %r21, 4;
shfl.sync.bfly.b32 %r22|%p5, %r20, %r21, %r13, %r15; mov.b32 %f13, %r22; add.f32 %f14, %f12, %f13;
mov.b32 %r23, %f14; mov.u32 %r24, 2; shfl.sync.bfly.b32 %r25|%p6, %r23, %r24, %r13, %r15; mov.b32 %f15, %r25;
add.f32 %f16, %f14, %f15; mov.b32 %r26, %f16; mov.u32 %r27, 1;
shfl.sync.bfly.b32 %r28|%p7, %r26, %r27, %r13, %r15; mov.b32 %f17, %r28; add.f32 %f4, %f16, %f17;
and.b32 %r29, %r37, 31; setp.ne.s32 %p8, %r29, 0; @%p8 bra $L__BB3_5; shr.u32 %r30, %r37, 3;
and.b32 %r31, %r30, 536870908; mov.u32 %r32, _ZZ9row_normsE7partial; add.s32 %r33, %r32, %r31;
st.shared.f32 [%r33], %f4;
$L__BB3_5:
bar.sync 0; @%p1 bra $L__BB3_8; ld.shared.f32 %f18, [_ZZ9row_normsE7partial];
ld.shared.f32 %f19, [_ZZ9row_normsE7partial+4]; ld.shared.f32 %f20, [_ZZ9row_normsE7partial+8];
ld.shared.f32 %f21, [_ZZ9row_normsE7partial+12]; ld.shared.f32 %f22, [_ZZ9row_normsE7partial+16];
ld.shared.f32 %f23, [_ZZ9row_normsE7partial+20]; ld.shared.f32 %f24, [_ZZ9row_normsE7partial+24];
ld.shared.f32 %f25, [_ZZ9row_normsE7partial+28]; cvt.u32.u64 %r34, %rd2; cvt.s64.s32 %rd15, %r37;
add.s64 %rd16, %rd15, %rd2; shl.b64 %rd17, %rd16, 2; add.s64 %rd21, %rd1, %rd17; add.s32 %r36, %r37, %r34;
cvta.to.global.u64 %rd7, %rd10; cvt.rn.f32.s32 %f26, %r9; add.f32 %f27, %f18, 0f00000000;
add.f32 %f28, %f27, %f19; add.f32 %f29, %f28, %f20; add.f32 %f30, %f29, %f21; add.f32 %f31, %f30, %f22;
add.f32 %f32, %f31, %f23; add.f32 %f33, %f32, %f24; add.f32 %f34, %f33, %f25; div.rn.f32 %f35, %f34, %f26;
add.f32 %f36, %f35, 0f3727C5AC; rsqrt.approx.f32 %f5, %f36;
$L__BB3_7:
.pragma "nounroll"; ld.global.f32 %f37, [%rd21]; mul.f32 %f38, %f5, %f37; mul.wide.u32 %rd18, %r36, 4;
add.s64 %rd19, %rd7, %rd18; st.global.f32 [%rd19], %f38; add.s64 %rd21, %rd21, 1024; add.s32 %r36, %r36, 256;
add.s32 %r37, %r37, 256; setp.lt.s32 %p10, %r37, %r9; @%p10 bra $L__BB3_7;
$L__BB3_8:
ret;
}
)ptx";

}  // namespace opgate::simulator::tests
