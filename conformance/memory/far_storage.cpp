#include "memory/far_storage.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <sys/mman.h>

#include <new>

namespace opgate {
namespace {

constexpr int64_t kSome = 64;

}  // namespace

at::Tensor far_tensor(const Geometry& geometry, c10::ScalarType dtype) {
  const size_t bytes = static_cast<size_t>(geometry.elements) * c10::elementSize(dtype);
  // An inaccessible region of the same size lies in front, because an index that has become negative leads
  // there.
  const size_t whole = 2 * bytes;
  void* const base = mmap(nullptr, whole, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  auto* const data = static_cast<std::byte*>(base) + bytes / 4096 * 4096;
  if (mprotect(data, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, whole);
    throw std::bad_alloc();
  }
  at::Tensor tensor = at::from_blob(
      data, {geometry.elements}, {1}, [base, whole](void*) { munmap(base, whole); },
      at::TensorOptions(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(geometry.sizes, geometry.strides, geometry.offset);
  return tensor;
}

Geometry far_strided(c10::IntArrayRef sizes, int64_t elements) {
  const int64_t beyond = elements + kSome;
  std::vector<int64_t> strides = dense_strides(sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] < 2) continue;
    const int64_t steps = sizes[dim] - 1;
    strides[dim] =
        std::max(strides[dim], (beyond + steps - 1) / steps);  // rounded up: the last one lies beyond
    return geometry(sizes.vec(), std::move(strides));
  }
  return far_offset(sizes, elements);
}

Geometry far_offset(c10::IntArrayRef sizes, int64_t elements) {
  return geometry(sizes.vec(), dense_strides(sizes), elements + kSome);
}

}  // namespace opgate
