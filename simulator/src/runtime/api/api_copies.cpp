// Copies and fills.
#include "runtime/api/api.h"
#include "runtime/memory/copies.h"
#include "runtime/memory/cuda_array.h"

using namespace opgate::simulator;

namespace {

cudaError_t copy_region(const CopySide& to, const CopySide& from, const CopyShape& shape, cudaMemcpyKind kind,
                        cudaStream_t stream, HostWaits waits) {
  return api_call(
      [&](Simulator& simulator) { copy(simulator, to, from, shape, kind, *simulator.stream(stream), waits); },
      "cudaMemcpy");
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream, HostWaits waits) {
  return copy_region({to, bytes, bytes}, {from, bytes, bytes}, {bytes}, kind, stream, waits);
}

// Rows must not overlap.
cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                      HostWaits waits) {
  if (width > to_pitch || width > from_pitch) return errors::keep(cudaErrorInvalidPitchValue);
  return copy_region({to, to_pitch, to_pitch * height}, {from, from_pitch, from_pitch * height},
                     {width, height}, kind, stream, waits);
}

CopySide side_of(const cudaPitchedPtr& memory, const cudaPos& position) {
  const std::size_t slice = memory.pitch * memory.ysize;
  const std::size_t offset = position.z * slice + position.y * memory.pitch + position.x;
  return {static_cast<const std::byte*>(memory.ptr) + offset, memory.pitch, slice};
}

// With an array, the extent and the positions in it count elements.
void copy_arrays(Simulator& simulator, const cudaMemcpy3DParms& parameters, cudaStream_t stream,
                 HostWaits waits) {
  const auto known = [&](cudaArray_t handle) {
    return handle == nullptr ? nullptr : simulator.arrays.at(handle).get();
  };
  const CudaArray* const from = known(parameters.srcArray);
  const CudaArray* const to = known(parameters.dstArray);
  const std::size_t element = (from != nullptr ? from : to)->image.element_bytes();
  if (from != nullptr && to != nullptr && to->image.element_bytes() != element) refuse(cudaErrorInvalidValue);
  const cudaExtent& extent = parameters.extent;
  const CopyShape shape{extent.width * element, extent.height, extent.depth};
  const auto side = [&](const CudaArray* array, const cudaPitchedPtr& memory, const cudaPos& position) {
    return array == nullptr ? side_of(memory, position)
                            : array->side(position.x * element, position.y, position.z, shape);
  };
  copy(simulator, side(to, parameters.dstPtr, parameters.dstPos),
       side(from, parameters.srcPtr, parameters.srcPos), shape, parameters.kind, *simulator.stream(stream),
       waits);
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, cudaStream_t stream, HostWaits waits) {
  if (parameters == nullptr) return errors::keep(cudaErrorInvalidValue);
  const cudaExtent& extent = parameters->extent;
  if (parameters->srcArray != nullptr || parameters->dstArray != nullptr) {
    return api_call([&](Simulator& simulator) { copy_arrays(simulator, *parameters, stream, waits); },
                    "cudaMemcpy3D");
  }
  return copy_region(side_of(parameters->dstPtr, parameters->dstPos),
                     side_of(parameters->srcPtr, parameters->srcPos),
                     {extent.width, extent.height, extent.depth}, parameters->kind, stream, waits);
}

cudaError_t fill_region(const CopySide& to, const CopyShape& shape, int value, cudaStream_t stream) {
  return api_call(
      [&](Simulator& simulator) {
        fill(simulator, to, shape, static_cast<unsigned>(value), *simulator.stream(stream));
      },
      "cudaMemset");
}

cudaError_t copy_symbol(const void* symbol, const void* from, void* to, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, HostWaits waits) {
  return api_call(
      [&](Simulator& simulator) {
        const auto [address, size] =
            simulator.binaries.variable(symbol, devices::current(), simulator.memory);
        if (offset > size || bytes > size - offset) refuse(cudaErrorInvalidValue);
        void* const place = reinterpret_cast<void*>(address + offset);
        copy(simulator, from == nullptr ? to : place, from == nullptr ? place : from, bytes, kind,
             *simulator.stream(stream), waits);
      },
      "cudaMemcpy with a symbol");
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_bytes(to, from, bytes, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return copy_bytes(to, from, bytes, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width, std::size_t height,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_box(parameters, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_box(parameters, stream, HostWaits::no);
}

// The pointers say which devices they belong to. Such a copy needs no access between the devices.
OPGATE_SIM_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                               std::size_t bytes, cudaStream_t stream) {
  return api_call([&](Simulator& simulator) {
    devices::require(to_device);
    devices::require(from_device);
    copy(simulator, to, from, bytes, cudaMemcpyDefault, *simulator.stream(stream), HostWaits::no);
  });
}

// Waits for all work of both devices, and later work of both waits for it.
OPGATE_SIM_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                          std::size_t bytes) {
  return api_call([&](Simulator& simulator) {
    devices::require(to_device);
    devices::require(from_device);
    simulator.captures.refuse_unsafe_call();
    simulator.execution.finish_device(from_device);
    simulator.execution.finish_device(to_device);
    const auto stream = simulator.stream(nullptr);
    copy(simulator, to, from, bytes, cudaMemcpyDefault, *stream, HostWaits::no);
    simulator.execution.finish(*stream);
  });
}

OPGATE_SIM_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                              std::size_t offset, cudaMemcpyKind kind) {
  return copy_symbol(symbol, from, nullptr, bytes, offset, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
  return copy_symbol(symbol, from, nullptr, bytes, offset, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                                std::size_t offset, cudaMemcpyKind kind) {
  return copy_symbol(symbol, nullptr, to, bytes, offset, kind, nullptr, HostWaits::yes);
}

OPGATE_SIM_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind,
                                                     cudaStream_t stream) {
  return copy_symbol(symbol, nullptr, to, bytes, offset, kind, stream, HostWaits::no);
}

OPGATE_SIM_API cudaError_t cudaGetSymbolAddress(void** result, const void* symbol) {
  return api_call(give(result, [&](Simulator& simulator) {
    return reinterpret_cast<void*>(
        simulator.binaries.variable(symbol, devices::current(), simulator.memory).first);
  }));
}

OPGATE_SIM_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api_call(give(bytes, [&](Simulator& simulator) {
    return simulator.binaries.variable(symbol, devices::current(), simulator.memory).second;
  }));
}

OPGATE_SIM_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill_region({to, bytes, bytes}, {bytes}, value, nullptr);
}

OPGATE_SIM_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill_region({to, bytes, bytes}, {bytes}, value, stream);
}

OPGATE_SIM_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
  return fill_region({to, pitch, pitch * height}, {width, height}, value, nullptr);
}

OPGATE_SIM_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, cudaStream_t stream) {
  return fill_region({to, pitch, pitch * height}, {width, height}, value, stream);
}

OPGATE_SIM_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_region(side_of(to, {}), {extent.width, extent.height, extent.depth}, value, nullptr);
}

OPGATE_SIM_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                             cudaStream_t stream) {
  return fill_region(side_of(to, {}), {extent.width, extent.height, extent.depth}, value, stream);
}
