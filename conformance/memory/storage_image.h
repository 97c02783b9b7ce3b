// The bytes of a whole storage, gaps included, at one moment.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

#include "memory/poison.h"

namespace opgate {

using StorageImage = std::vector<std::byte>;

/// Copies the whole storage of `tensor`, from whatever device it is on.
StorageImage storage_image(const at::Tensor& tensor);

/// True where the storage of `tensor` still has these bytes, and no others.
bool unchanged(const at::Tensor& tensor, const StorageImage& before);

}  // namespace opgate
