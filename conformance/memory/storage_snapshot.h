// The bytes of a whole storage, gaps included, at one moment.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

#include "memory/poison.h"

namespace opgate {

using StorageSnapshot = std::vector<std::byte>;

/// Copies the whole storage of `tensor`, from any device.
StorageSnapshot storage_snapshot(const at::Tensor& tensor);

/// Whether the storage of `tensor` still has the size and bytes of the snapshot.
bool unchanged(const at::Tensor& tensor, const StorageSnapshot& before);

}  // namespace opgate
