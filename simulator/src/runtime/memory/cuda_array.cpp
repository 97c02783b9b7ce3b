#include "runtime/memory/cuda_array.h"

#include <array>

#include "runtime/findings/errors.h"

namespace opgate::simulator {

CopySide CudaArray::side(std::size_t x_bytes, std::size_t y, std::size_t z, const CopyShape& shape) const {
  const std::size_t row = image.row_pitch;
  const std::size_t rows = image.sizes[1];
  const auto fits = [](std::size_t begin, std::size_t count, std::size_t all) {
    return begin <= all && count <= all - begin;
  };
  if (!fits(x_bytes, shape.width, row) || !fits(y, shape.height, rows) || !fits(z, shape.depth, slices()))
    refuse(cudaErrorInvalidValue, "a copy beyond the end of a CUDA array");
  const std::uint64_t begin = image.address + z * image.slice_pitch + y * row + x_bytes;
  return {reinterpret_cast<const void*>(begin), row, image.slice_pitch};
}

Image image_of(const cudaChannelFormatDesc& format) {
  const std::array<int, 4> bits{format.x, format.y, format.z, format.w};
  Image image;
  image.channels = 0;
  for (const int each : bits) {
    if (each == 0) break;
    ++image.channels;
  }
  const bool is_regular =
      image.channels != 0 && image.channels != 3 && (bits[0] == 8 || bits[0] == 16 || bits[0] == 32);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (!is_regular || bits[i] != (i < image.channels ? bits[0] : 0))
      refuse(cudaErrorInvalidChannelDescriptor);
  }
  image.channel_bytes = static_cast<std::uint8_t>(bits[0] / 8);
  switch (format.f) {
    case cudaChannelFormatKindSigned:
      image.kind = Image::Kind::signed_integer;
      break;
    case cudaChannelFormatKindUnsigned:
      image.kind = Image::Kind::unsigned_integer;
      break;
    case cudaChannelFormatKindFloat:
      image.kind = Image::Kind::floating;
      if (bits[0] == 8) refuse(cudaErrorInvalidChannelDescriptor);
      break;
    default:
      refuse(cudaErrorNotSupported, "a CUDA array or texture of the format " +
                                        std::to_string(static_cast<int>(format.f)) +
                                        ", of normalized or compressed elements");
  }
  return image;
}

}  // namespace opgate::simulator
