#include "memory/separated_rows.h"

#include <ATen/ops/from_blob.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "layouts/geometry.h"

namespace opgate {
namespace {

constexpr size_t kMostRows = 256;

}  // namespace

std::optional<SeparatedRows> separate_rows(const at::Tensor& values) {
  const auto sizes = values.sizes();
  const auto rows = std::ranges::find_if(sizes, [](int64_t size) { return size >= 2; });
  if (rows == sizes.end() || values.numel() == 0 || *rows > static_cast<int64_t>(kMostRows)) return {};
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto count = static_cast<size_t>(*rows);
  const size_t row = values.nbytes() / count;
  const size_t accessible = (row + page - 1) / page * page;
  const size_t step = accessible + page;
  const size_t whole = page + count * step;
  void* const base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(base);
  at::Tensor tensor = at::from_blob(
      begin, {static_cast<int64_t>(whole / values.element_size())}, {1},
      [base, whole](void*) { munmap(base, whole); }, values.options());
  for (size_t i = 0; i < count; ++i) {
    if (mprotect(begin + page + i * step, accessible, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  std::vector<int64_t> strides = dense_strides(sizes);
  strides[static_cast<size_t>(rows - sizes.begin())] = static_cast<int64_t>(step / values.element_size());
  const size_t first = page + accessible - row;
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides,
                                                      static_cast<int64_t>(first / values.element_size()));
  tensor.copy_(values);
  return SeparatedRows{std::move(tensor), begin, whole};
}

}  // namespace opgate
