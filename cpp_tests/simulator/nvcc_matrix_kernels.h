// What nvcc 13.0 makes of these kernels with -ptx -arch=sm_80, without comments and empty lines:
//
//     #include <cuda_fp16.h>
//     #include <cuda_pipeline.h>
//     #include <mma.h>
//     extern "C" __global__ void multiply_tiles(float* out, const __half* a, const __half* b, int k) {
//       using namespace nvcuda;
//       wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
//       wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
//       wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
//       wmma::fill_fragment(sums, 0.0f);
//     #pragma unroll 1
//       for (int i = 0; i < k; i += 16) {
//         wmma::load_matrix_sync(left, a + i, k);
//         wmma::load_matrix_sync(right, b + i, k);
//         wmma::mma_sync(sums, left, right, sums);
//       }
//       for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= 0.5f;
//       wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
//     }
//     extern "C" __global__ void sum_chunks(float* out, const float4* in, int chunks, bool waits) {
//       __shared__ float4 stage[2][32];
//       const int i = threadIdx.x;
//       float sum = 0;
//       __pipeline_memcpy_async(&stage[0][i], &in[i], sizeof(float4));
//       __pipeline_commit();
//     #pragma unroll 1
//       for (int c = 0; c < chunks; ++c) {
//         const int next = min(c + 1, chunks - 1);
//         __pipeline_memcpy_async(&stage[(c + 1) % 2][i], &in[next * 32 + i], sizeof(float4));
//         __pipeline_commit();
//         if (waits) __pipeline_wait_prior(1);
//         __syncthreads();
//         const float4 value = stage[c % 2][31 - i];
//         sum += value.x + value.y * value.z + value.w;
//         __syncthreads();
//       }
//       out[i] = sum;
//     }
//     // Each warp multiplies 16 rows of `a` by 8 columns of `b`, both of which lie in memory along k.
//     extern "C" __global__ void multiply_by_mma(float* out, const __half* a, const __half* b, int k, int n) {
//       __shared__ alignas(16) __half left[16][24];
//       __shared__ alignas(16) __half right[8][24];
//       const int lane = threadIdx.x;
//       a += blockIdx.y * 16 * k;
//       b += blockIdx.x * 8 * k;
//       float d[4] = {};
//     #pragma unroll 1
//       for (int i = 0; i < k; i += 16) {
//         __pipeline_memcpy_async(&left[lane / 2][lane % 2 * 8], a + lane / 2 * k + i + lane % 2 * 8, 16);
//         if (lane < 16) __pipeline_memcpy_async(&right[lane / 2][lane % 2 * 8], b + lane / 2 * k + i + lane % 2 * 8, 16);
//         __pipeline_commit();
//         __pipeline_wait_prior(0);
//         __syncwarp();
//         unsigned x[4], y[2];
//         const unsigned from_a = __cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8]);
//         const unsigned from_b = __cvta_generic_to_shared(&right[lane % 8][lane / 8 % 2 * 8]);
//         asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
//                      : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from_a));
//         asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(from_b));
//         asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
//                      "{%0, %1, %2, %3};"
//                      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
//                      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
//         __syncwarp();
//       }
//       out += (blockIdx.y * 16 + lane / 4) * n + blockIdx.x * 8 + lane % 4 * 2;
//       out[0] = d[0];
//       out[1] = d[1];
//       out[8 * n] = d[2];
//       out[8 * n + 1] = d[3];
//     }
#pragma once

namespace opgate::simulator::tests {

inline constexpr const char* kMatrixKernels = R"ptx(.version 9.0
.target sm_80
.address_size 64
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
.visible .entry sum_chunks(
	.param .u64 sum_chunks_param_0,
	.param .u64 sum_chunks_param_1,
	.param .u32 sum_chunks_param_2,
	.param .u8 sum_chunks_param_3
)
{
	.reg .pred 	%p<4>;
	.reg .b16 	%rs<2>;
	.reg .f32 	%f<18>;
	.reg .b32 	%r<30>;
	.reg .b64 	%rd<12>;
	.shared .align 16 .b8 _ZZ10sum_chunksE5stage[1024];
	ld.param.s8 	%rs1, [sum_chunks_param_3];
	ld.param.u64 	%rd3, [sum_chunks_param_0];
	ld.param.u64 	%rd5, [sum_chunks_param_1];
	ld.param.u32 	%r6, [sum_chunks_param_2];
	mov.u32 	%r8, %tid.x;
	cvt.s64.s32 	%rd1, %r8;
	mul.wide.s32 	%rd6, %r8, 16;
	add.s64 	%rd4, %rd5, %rd6;
	shl.b32 	%r9, %r8, 4;
	mov.u32 	%r10, _ZZ10sum_chunksE5stage;
	add.s32 	%r7, %r10, %r9;
	cp.async.cg.shared.global [%r7], [%rd4], 16, 16;
	cp.async.commit_group;
	setp.lt.s32 	%p1, %r6, 1;
	mov.f32 	%f17, 0f00000000;
	@%p1 bra 	$L__BB1_5;
	cvt.u32.u64 	%r12, %rd1;
	add.s32 	%r1, %r6, -1;
	mov.u32 	%r13, 31;
	sub.s32 	%r2, %r13, %r12;
	mov.f32 	%f17, 0f00000000;
	mov.u32 	%r29, 0;
	shl.b32 	%r27, %r2, 4;
$L__BB1_2:
	.pragma "nounroll";
	add.s32 	%r4, %r29, 1;
	min.s32 	%r15, %r4, %r1;
	and.b32  	%r5, %r29, 1;
	shl.b32 	%r16, %r15, 5;
	mul.wide.s32 	%rd8, %r16, 16;
	add.s64 	%rd7, %rd4, %rd8;
	shl.b32 	%r18, %r29, 9;
	not.b32 	%r19, %r18;
	and.b32  	%r20, %r19, 512;
	add.s32 	%r22, %r10, %r20;
	shl.b32 	%r23, %r12, 4;
	add.s32 	%r14, %r22, %r23;
	cp.async.cg.shared.global [%r14], [%rd7], 16, 16;
	cp.async.commit_group;
	setp.eq.s16 	%p2, %rs1, 0;
	@%p2 bra 	$L__BB1_4;
	cp.async.wait_group 1;
$L__BB1_4:
	bar.sync 	0;
	shl.b32 	%r24, %r5, 9;
	add.s32 	%r26, %r10, %r24;
	add.s32 	%r28, %r26, %r27;
	ld.shared.v4.f32 	{%f6, %f7, %f8, %f9}, [%r28];
	fma.rn.f32 	%f14, %f7, %f8, %f6;
	add.f32 	%f15, %f9, %f14;
	add.f32 	%f17, %f17, %f15;
	bar.sync 	0;
	setp.lt.s32 	%p3, %r4, %r6;
	mov.u32 	%r29, %r4;
	@%p3 bra 	$L__BB1_2;
$L__BB1_5:
	cvta.to.global.u64 	%rd9, %rd3;
	shl.b64 	%rd10, %rd1, 2;
	add.s64 	%rd11, %rd9, %rd10;
	st.global.f32 	[%rd11], %f17;
	ret;
}
.visible .entry multiply_by_mma(
	.param .u64 multiply_by_mma_param_0,
	.param .u64 multiply_by_mma_param_1,
	.param .u64 multiply_by_mma_param_2,
	.param .u32 multiply_by_mma_param_3,
	.param .u32 multiply_by_mma_param_4
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<37>;
	.reg .b32 	%r<75>;
	.reg .b64 	%rd<28>;
	.shared .align 16 .b8 _ZZ15multiply_by_mmaE4left[768];
	.shared .align 16 .b8 _ZZ15multiply_by_mmaE5right[384];
	ld.param.u64 	%rd7, [multiply_by_mma_param_0];
	ld.param.u64 	%rd8, [multiply_by_mma_param_1];
	ld.param.u64 	%rd9, [multiply_by_mma_param_2];
	ld.param.u32 	%r10, [multiply_by_mma_param_3];
	ld.param.u32 	%r11, [multiply_by_mma_param_4];
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r12, %ctaid.y;
	shl.b32 	%r2, %r12, 4;
	mov.u32 	%r13, %ctaid.x;
	shl.b32 	%r3, %r13, 3;
	setp.lt.s32 	%p1, %r10, 1;
	mov.f32 	%f33, 0f00000000;
	mov.f32 	%f34, %f33;
	mov.f32 	%f35, %f33;
	mov.f32 	%f36, %f33;
	@%p1 bra 	$L__BB2_5;
	mul.lo.s32 	%r15, %r3, %r10;
	cvt.u64.u32 	%rd10, %r15;
	shr.u32 	%r16, %r1, 31;
	add.s32 	%r17, %r1, %r16;
	shr.s32 	%r18, %r17, 1;
	and.b32  	%r19, %r17, -2;
	sub.s32 	%r20, %r1, %r19;
	shl.b32 	%r21, %r20, 3;
	cvt.s64.s32 	%rd11, %r21;
	mul.lo.s32 	%r22, %r18, %r10;
	cvt.s64.s32 	%rd12, %r22;
	mul.lo.s32 	%r23, %r18, 48;
	mov.u32 	%r24, _ZZ15multiply_by_mmaE4left;
	add.s32 	%r25, %r24, %r23;
	shl.b32 	%r26, %r20, 4;
	add.s32 	%r4, %r25, %r26;
	mov.u32 	%r27, _ZZ15multiply_by_mmaE5right;
	add.s32 	%r28, %r27, %r23;
	add.s32 	%r5, %r28, %r26;
	shr.s32 	%r29, %r1, 31;
	shr.u32 	%r30, %r29, 28;
	add.s32 	%r31, %r1, %r30;
	and.b32  	%r32, %r31, -16;
	sub.s32 	%r33, %r1, %r32;
	mad.lo.s32 	%r34, %r33, 48, %r24;
	add.s32 	%r6, %r34, %r32;
	shr.u32 	%r35, %r29, 29;
	add.s32 	%r36, %r1, %r35;
	shr.u32 	%r37, %r36, 31;
	shr.s32 	%r38, %r36, 3;
	add.s32 	%r39, %r38, %r37;
	and.b32  	%r40, %r39, 268435454;
	sub.s32 	%r41, %r38, %r40;
	and.b32  	%r42, %r36, -8;
	sub.s32 	%r43, %r1, %r42;
	shl.b32 	%r44, %r41, 4;
	mad.lo.s32 	%r45, %r43, 48, %r27;
	add.s32 	%r7, %r45, %r44;
	add.s64 	%rd13, %rd11, %rd12;
	add.s64 	%rd14, %rd13, %rd10;
	shl.b64 	%rd15, %rd14, 1;
	add.s64 	%rd27, %rd9, %rd15;
	mul.lo.s32 	%r46, %r2, %r10;
	cvt.u64.u32 	%rd16, %r46;
	add.s64 	%rd17, %rd13, %rd16;
	shl.b64 	%rd18, %rd17, 1;
	add.s64 	%rd26, %rd8, %rd18;
	mov.f32 	%f36, 0f00000000;
	mov.u32 	%r74, 0;
	mov.f32 	%f35, %f36;
	mov.f32 	%f34, %f36;
	mov.f32 	%f33, %f36;
$L__BB2_2:
	.pragma "nounroll";
	cp.async.cg.shared.global [%r4], [%rd26], 16, 16;
	setp.gt.s32 	%p2, %r1, 15;
	@%p2 bra 	$L__BB2_4;
	cp.async.cg.shared.global [%r5], [%rd27], 16, 16;
$L__BB2_4:
	cp.async.commit_group;
	cp.async.wait_group 0;
	bar.warp.sync 	-1;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r49, %r50, %r51, %r52}, [%r6];
	ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r54, %r55}, [%r7];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f33, %f34, %f35, %f36}, {%r49, %r50, %r51, %r52}, {%r54, %r55}, {%f33, %f34, %f35, %f36};
	bar.warp.sync 	-1;
	add.s64 	%rd27, %rd27, 32;
	add.s64 	%rd26, %rd26, 32;
	add.s32 	%r74, %r74, 16;
	setp.lt.s32 	%p3, %r74, %r10;
	@%p3 bra 	$L__BB2_2;
$L__BB2_5:
	shr.s32 	%r63, %r1, 31;
	shr.u32 	%r64, %r63, 30;
	add.s32 	%r65, %r1, %r64;
	shr.s32 	%r66, %r65, 2;
	add.s32 	%r67, %r2, %r66;
	and.b32  	%r68, %r65, 2147483644;
	sub.s32 	%r69, %r1, %r68;
	shl.b32 	%r70, %r69, 1;
	add.s32 	%r71, %r70, %r3;
	mad.lo.s32 	%r72, %r67, %r11, %r71;
	cvta.to.global.u64 	%rd21, %rd7;
	mul.wide.u32 	%rd22, %r72, 4;
	add.s64 	%rd23, %rd21, %rd22;
	st.global.f32 	[%rd23], %f33;
	st.global.f32 	[%rd23+4], %f34;
	shl.b32 	%r73, %r11, 3;
	mul.wide.s32 	%rd24, %r73, 4;
	add.s64 	%rd25, %rd23, %rd24;
	st.global.f32 	[%rd25], %f35;
	st.global.f32 	[%rd25+4], %f36;
	ret;
}
)ptx";

}  // namespace opgate::simulator::tests
