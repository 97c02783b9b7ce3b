// Arrays of CUDA, and copies of them.
#include <limits>

#include "runtime/api/api.h"
#include "runtime/memory/copies.h"
#include "runtime/memory/cuda_array.h"

using namespace opgate::simulator;

namespace {

void allocate(Simulator& simulator, cudaArray_t* result, const cudaChannelFormatDesc* format,
              const cudaExtent& extent, unsigned flags) {
  require(result);
  require(format);
  simulator.captures.refuse_unsafe_call();
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
  if ((flags & ~kKnown) != 0)
    refuse(cudaErrorNotSupported, "a CUDA array for cube maps, or one that is sparse or mapped later");
  const auto made = std::make_shared<CudaArray>();
  made->format = *format;
  made->extent = extent;
  made->flags = flags;
  made->device = devices::current();
  Image& image = made->image = image_of(*format);
  constexpr std::size_t kMostOfSize = std::size_t{1} << 17;
  image.is_layered = (flags & cudaArrayLayered) != 0;
  if (extent.width == 0 || extent.width > kMostOfSize || extent.height > kMostOfSize ||
      extent.depth > kMostOfSize || (image.is_layered && extent.depth == 0) ||
      (!image.is_layered && extent.height == 0 && extent.depth != 0))
    refuse(cudaErrorInvalidValue);
  const auto size = [](std::size_t given) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(given, 1));
  };
  image.sizes = {size(extent.width), size(extent.height), image.is_layered ? 1 : size(extent.depth)};
  image.layers = image.is_layered ? size(extent.depth) : 1;
  image.rank = extent.height == 0 ? 1 : extent.depth == 0 || image.is_layered ? 2 : 3;
  image.row_pitch = image.sizes[0] * image.element_bytes();
  image.slice_pitch = image.row_pitch * image.sizes[1];
  image.address = simulator.memory.allocate(made->device, made->bytes());
  *result = simulator.arrays.add(made);
}

const CudaArray& array_of(Simulator& simulator, cudaArray_const_t handle) {
  return *simulator.arrays.at(const_cast<cudaArray_t>(handle));
}

/// Where a copy of an array begins.
struct Place {
  cudaArray_const_t array;
  std::size_t x_bytes;
  std::size_t y;
};

CopySide side_of(Simulator& simulator, const Place& place, const CopyShape& shape) {
  return array_of(simulator, place.array).side(place.x_bytes, place.y, 0, shape);
}

cudaError_t copy_to(const Place& to, const void* from, std::size_t pitch, const CopyShape& shape,
                    cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits) {
  if (shape.height > 1 && shape.width > pitch) return errors::keep(cudaErrorInvalidPitchValue);
  return api_call(
      [&](Simulator& simulator) {
        copy(simulator, side_of(simulator, to, shape), {from, pitch, pitch * shape.height}, shape, kind,
             *simulator.stream(stream), waits);
      },
      "a copy to a CUDA array");
}

cudaError_t copy_from(void* to, std::size_t pitch, const Place& from, const CopyShape& shape,
                      cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits) {
  if (shape.height > 1 && shape.width > pitch) return errors::keep(cudaErrorInvalidPitchValue);
  return api_call(
      [&](Simulator& simulator) {
        copy(simulator, {to, pitch, pitch * shape.height}, side_of(simulator, from, shape), shape, kind,
             *simulator.stream(stream), waits);
      },
      "a copy of a CUDA array");
}

// So many bytes of the array from this place on, row after row.
CopySide bytes_from(Simulator& simulator, const Place& place, std::size_t bytes) {
  const CudaArray& array = array_of(simulator, place.array);
  const std::size_t begin = place.y * array.image.row_pitch + place.x_bytes;
  if (begin > array.image.slice_pitch || bytes > array.image.slice_pitch - begin)
    refuse(cudaErrorInvalidValue, "a copy beyond the end of a CUDA array");
  return {reinterpret_cast<const void*>(array.image.address + begin), bytes, bytes};
}

cudaError_t copy_bytes_to(const Place& to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                          cudaStream_t stream, HostWaits waits) {
  return api_call(
      [&](Simulator& simulator) {
        copy(simulator, bytes_from(simulator, to, bytes), {from, bytes, bytes}, {bytes}, kind,
             *simulator.stream(stream), waits);
      },
      "cudaMemcpyToArray");
}

cudaError_t copy_bytes_from(void* to, const Place& from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream, HostWaits waits) {
  return api_call(
      [&](Simulator& simulator) {
        copy(simulator, {to, bytes, bytes}, bytes_from(simulator, from, bytes), {bytes}, kind,
             *simulator.stream(stream), waits);
      },
      "cudaMemcpyFromArray");
}

}  // namespace

OPGATE_SIM_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                           cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

OPGATE_SIM_API cudaError_t cudaMallocArray(cudaArray_t* result, const cudaChannelFormatDesc* format,
                                           std::size_t width, std::size_t height, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    allocate(simulator, result, format, {width, height, 0}, flags);
  });
}

OPGATE_SIM_API cudaError_t cudaMalloc3DArray(cudaArray_t* result, const cudaChannelFormatDesc* format,
                                             cudaExtent extent, unsigned flags) {
  return api_call([&](Simulator& simulator) { allocate(simulator, result, format, extent, flags); });
}

OPGATE_SIM_API cudaError_t cudaFreeArray(cudaArray_t handle) {
  return api_release([&](Simulator& simulator) {
    if (handle == nullptr) return;
    simulator.captures.refuse_unsafe_call();
    const auto array = simulator.arrays.at(handle);
    // The memory may be in use by work that is still to run.
    simulator.execution.complete_all();
    simulator.memory.heap(array->device).release(array->image.address);
    simulator.arrays.remove(handle);
  });
}

OPGATE_SIM_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                            unsigned* flags, cudaArray_t handle) {
  return api_call([&](Simulator& simulator) {
    const CudaArray& array = array_of(simulator, handle);
    if (format != nullptr) *format = array.format;
    if (extent != nullptr) *extent = array.extent;
    if (flags != nullptr) *flags = array.flags;
  });
}

OPGATE_SIM_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t handle) {
  return api_call(give(format, [&](Simulator& simulator) { return array_of(simulator, handle).format; }));
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x_bytes, std::size_t y,
                                                    const void* from, std::size_t pitch, std::size_t width,
                                                    std::size_t height, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
  return copy_to({to, x_bytes, y}, from, pitch, {width, height}, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y,
                                               const void* from, std::size_t pitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind) {
  return copy_to({to, x_bytes, y}, from, pitch, {width, height}, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                                      std::size_t x_bytes, std::size_t y, std::size_t width,
                                                      std::size_t height, cudaMemcpyKind kind,
                                                      cudaStream_t stream) {
  return copy_from(to, pitch, {from, x_bytes, y}, {width, height}, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                                 std::size_t x_bytes, std::size_t y, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind) {
  return copy_from(to, pitch, {from, x_bytes, y}, {width, height}, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                                    cudaArray_const_t from, std::size_t from_x,
                                                    std::size_t from_y, std::size_t width, std::size_t height,
                                                    cudaMemcpyKind kind) {
  return api_call([&](Simulator& simulator) {
    const CopyShape shape{width, height};
    copy(simulator, side_of(simulator, {to, to_x, to_y}, shape),
         side_of(simulator, {from, from_x, from_y}, shape), shape, kind, *simulator.stream(nullptr),
         HostWaits::yes);
  });
}

OPGATE_SIM_API cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y,
                                             const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_bytes_to({to, x_bytes, y}, from, bytes, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x_bytes, std::size_t y,
                                                  const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
  return copy_bytes_to({to, x_bytes, y}, from, bytes, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x_bytes,
                                               std::size_t y, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_bytes_from(to, {from, x_bytes, y}, bytes, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x_bytes,
                                                    std::size_t y, std::size_t bytes, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
  return copy_bytes_from(to, {from, x_bytes, y}, bytes, kind, stream, HostWaits::no);
}
