// matmul on the CPU: it works on blocks that fit the caches, packed so that the innermost loop reads memory
// in order (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008).
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <memory>
#include <new>

#include "matmul.h"
#include "microkernel.h"
#include "pack.h"

namespace opgate_ops {
namespace {

constexpr int64_t kDepth = 256;     // of a block: one panel of A and one of B lie in the L1 cache
constexpr int64_t kRows = 480;      // of a block of A, which lies in a core's L2 cache
constexpr int64_t kColumns = 4096;  // of a block of B, which the cores share
// Fewer multiplications than this are not worth a second thread.
constexpr int64_t kProductsForThreads = 64 * 64 * 64;
constexpr std::align_val_t kAlignment{64};

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// Uninitialised memory that is aligned for the widest vectors.
template <typename T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : data_(static_cast<T*>(::operator new(static_cast<size_t>(count) * sizeof(T), kAlignment))) {}
  ~Buffer() { ::operator delete(data_, kAlignment); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }

 private:
  T* data_;
};

// Adds packed A times packed B to rows [m0, m1) and columns [n0, n1) of C. The first time it writes instead
// of adding, because C is uninitialised.
template <typename acc_t>
void multiply_block(const Microkernel<acc_t>& kernel, int64_t m0, int64_t m1, int64_t n0, int64_t n1,
                    int64_t depth, const acc_t* a, const acc_t* b, bool first, acc_t* c, int64_t c_stride) {
  alignas(64) acc_t at_edge[kMostOfTile];
  for (int64_t n = n0; n < n1; n += kernel.columns) {
    for (int64_t m = m0; m < m1; m += kernel.rows) {
      const acc_t *left = a + (m - m0) * depth, *right = b + (n - n0) * depth;
      const int64_t rows = std::min<int64_t>(kernel.rows, m1 - m),
                    columns = std::min<int64_t>(kernel.columns, n1 - n);
      if (rows == kernel.rows && columns == kernel.columns) {
        kernel.multiply(depth, left, right, {c + m * c_stride + n, c_stride, first});
        continue;
      }
      kernel.multiply(depth, left, right, {at_edge, kernel.columns, true});
      for (int64_t i = 0; i < rows; ++i) {
        acc_t* to = c + (m + i) * c_stride + n;
        const acc_t* sums = at_edge + i * kernel.columns;
        if (first) {
          std::copy_n(sums, columns, to);
        } else {
          for (int64_t j = 0; j < columns; ++j) to[j] += sums[j];
        }
      }
    }
  }
}

// Computes c = a b, where c [M, N] is contiguous and M, N and K are at least 1.
template <typename scalar_t, typename acc_t>
void multiply(const at::Tensor& a, const at::Tensor& b, acc_t* c) {
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  const Microkernel<acc_t>& kernel = microkernel<acc_t>();
  const Strided<scalar_t> left(a, /*transposed=*/true), right(b, /*transposed=*/false);
  const int64_t block_depth = std::min(depth, kDepth);
  Buffer<acc_t> packed_b(block_depth * round_up(std::min(columns, kColumns), kernel.columns));

  // Rows are divided evenly among the threads; the division does not change the bits of the result.
  const int64_t threads = rows * depth * columns < kProductsForThreads ? 1 : at::get_num_threads();
  const int64_t parts = round_up(std::max(threads, (rows + kRows - 1) / kRows), threads);
  const int64_t part_rows = round_up((rows + parts - 1) / parts, kernel.rows);
  for (int64_t n0 = 0; n0 < columns; n0 += kColumns) {
    const int64_t n1 = std::min(n0 + kColumns, columns);
    for (int64_t k0 = 0; k0 < depth; k0 += kDepth) {
      const int64_t deep = std::min(kDepth, depth - k0);
      const int64_t panels = (n1 - n0 + kernel.columns - 1) / kernel.columns;
      at::parallel_for(0, panels, threads == 1 ? panels : 1, [&](int64_t begin, int64_t end) {
        pack(right, k0, deep, n0 + begin * kernel.columns, std::min(n0 + end * kernel.columns, n1),
             kernel.columns, packed_b.data() + begin * kernel.columns * deep);
      });
      at::parallel_for(0, (rows + part_rows - 1) / part_rows, threads == 1 ? parts : 1,
                       [&](int64_t begin, int64_t end) {
                         Buffer<acc_t> packed_a(part_rows * deep);
                         for (int64_t part = begin; part < end; ++part) {
                           const int64_t m0 = part * part_rows, m1 = std::min(m0 + part_rows, rows);
                           pack(left, k0, deep, m0, m1, kernel.rows, packed_a.data());
                           multiply_block(kernel, m0, m1, n0, n1, deep, packed_a.data(), packed_b.data(),
                                          k0 == 0, c, columns);
                         }
                       });
    }
  }
}

at::Tensor matmul_cpu(const at::Tensor& a, const at::Tensor& b) {
  check_matmul(a, b);
  if (a.numel() == 0 || b.numel() == 0) return at::zeros({a.size(0), b.size(1)}, a.options());
  const at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "matmul", [&] {
    using acc_t = at::opmath_type<scalar_t>;
    if constexpr (std::is_same_v<scalar_t, acc_t>) {
      multiply<scalar_t>(a, b, out.mutable_data_ptr<scalar_t>());
    } else {
      const at::Tensor sums =
          at::empty(out.sizes(), out.options().dtype(c10::CppTypeToScalarType<acc_t>::value));
      multiply<scalar_t>(a, b, sums.mutable_data_ptr<acc_t>());
      out.copy_(sums);
    }
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) { m.impl("matmul", &opgate_ops::matmul_cpu); }
