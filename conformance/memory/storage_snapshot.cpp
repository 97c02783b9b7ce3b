#include "memory/storage_snapshot.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>

#include <cstring>

namespace opgate {

StorageSnapshot storage_snapshot(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  StorageSnapshot image(storage.nbytes());
  if (image.empty()) return image;
  if (tensor.is_cpu()) {
    std::memcpy(image.data(), storage.data(), image.size());
    return image;
  }
  at::Tensor bytes = at::empty({0}, tensor.options().dtype(at::kByte));
  bytes.set_(storage, 0, {static_cast<int64_t>(image.size())}, {1});
  const at::Tensor host = bytes.cpu();
  std::memcpy(image.data(), host.const_data_ptr(), image.size());
  return image;
}

bool unchanged(const at::Tensor& tensor, const StorageSnapshot& before) {
  const c10::Storage& storage = tensor.storage();
  if (storage.nbytes() != before.size()) return false;
  if (before.empty()) return true;
  if (!tensor.is_cpu()) return storage_snapshot(tensor) == before;
  return std::memcmp(storage.data(), before.data(), before.size()) == 0;
}

}  // namespace opgate
