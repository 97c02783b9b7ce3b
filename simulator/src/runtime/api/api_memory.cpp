// Memory of devices, and of the host for devices.
#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "runtime/api/api.h"
#include "runtime/devices/settings.h"

using namespace opgate::simulator;

namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

// Rows begin where a device can load them well.
constexpr std::size_t kPitch = 512;

std::size_t pitch_for(std::size_t width) { return (width + kPitch - 1) / kPitch * kPitch; }

void allocate_on_host(Simulator& simulator, void** result, std::size_t bytes, HostBlock::Kind kind,
                      unsigned flags) {
  require(result);
  simulator.captures.refuse_unsafe_call();
  *result = nullptr;
  if (bytes == 0) return;
  *result = simulator.memory.host().allocate(bytes, kind, flags, devices::current(), settings().fill);
  if (*result == nullptr) refuse(cudaErrorMemoryAllocation);
  if (simulator.stream_watch != nullptr) simulator.stream_watch->begins(address_of(*result), bytes);
}

// Without its cache (PYTORCH_NO_CUDA_MEMORY_CACHING), torch asks the runtime for what a captured graph needs,
// and gives it back while the graph still uses it. With its cache, it would do neither.
bool is_torch_in_capture(Simulator& simulator, const void* caller) {
  Dl_info info{};
  return simulator.captures.any() && dladdr(caller, &info) != 0 &&
         std::string_view(info.dli_fname).ends_with("libc10_cuda.so");
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaMalloc(void** result, std::size_t bytes) {
  const void* const caller = __builtin_return_address(0);
  return api_call([&](Simulator& simulator) {
    require(result);
    const bool of_graph = is_torch_in_capture(simulator, caller);
    if (!of_graph) simulator.captures.refuse_unsafe_call();
    *result = bytes == 0 ? nullptr : pointer_to(simulator.memory.allocate(devices::current(), bytes));
    if (of_graph) simulator.memory_of_graphs.insert(address_of(*result));
  });
}

OPGATE_SIM_API cudaError_t cudaMallocPitch(void** result, std::size_t* pitch, std::size_t width,
                                           std::size_t height) {
  return api_call([&](Simulator& simulator) {
    require(result);
    require(pitch);
    simulator.captures.refuse_unsafe_call();
    *pitch = pitch_for(width);
    const std::size_t bytes = *pitch * height;
    *result = bytes == 0 ? nullptr : pointer_to(simulator.memory.allocate(devices::current(), bytes));
  });
}

OPGATE_SIM_API cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  return api_call([&](Simulator& simulator) {
    require(result);
    simulator.captures.refuse_unsafe_call();
    const std::size_t pitch = pitch_for(extent.width);
    const std::size_t bytes = pitch * extent.height * extent.depth;
    void* const data =
        bytes == 0 ? nullptr : pointer_to(simulator.memory.allocate(devices::current(), bytes));
    *result = {data, pitch, extent.width, extent.height};
  });
}

OPGATE_SIM_API cudaError_t cudaFree(void* pointer) {
  const void* const caller = __builtin_return_address(0);
  return api_release([&](Simulator& simulator) {
    const std::uint64_t address = address_of(pointer);
    if (pointer == nullptr || simulator.memory_of_graphs.contains(address)) return;
    if (is_torch_in_capture(simulator, caller)) return;
    simulator.captures.refuse_unsafe_call();
    if (!simulator.memory.range().holds(address)) {
      simulator.execution.complete_all();
      if (!simulator.memory.host().release(address, HostBlock::Kind::managed))
        refuse(cudaErrorInvalidValue, "cudaFree of a pointer that cudaMalloc did not give");
      return;
    }
    const int device = simulator.memory.range().device_of(address);
    StreamWatch* const watch = simulator.stream_watch.get();
    const auto known =
        watch == nullptr ? nullptr : watch->known_to_host(simulator.execution.before_default_stream(device));
    // Devices with access to this one's memory may use it as well.
    simulator.execution.complete_all();
    Heap& heap = simulator.memory.heap(device);
    if (&simulator.memory.heap_of(address) != &heap)
      refuse(cudaErrorInvalidValue, "cudaFree of memory that a kernel has got by malloc");
    const Allocation* const block = heap.find(address);
    const std::size_t bytes = block == nullptr ? 0 : block->bytes;
    if (!heap.release(address)) refuse(cudaErrorInvalidValue, "cudaFree of " + heap.explain(address, 1));
    if (watch != nullptr) watch->frees(known, address, bytes);
    if (const auto pool = simulator.pools.forget(address)) pool->note_release(bytes);
  });
}

OPGATE_SIM_API cudaError_t cudaHostAlloc(void** result, std::size_t bytes, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    allocate_on_host(simulator, result, bytes, HostBlock::Kind::pinned, flags);
  });
}

OPGATE_SIM_API cudaError_t cudaMallocHost(void** result, std::size_t bytes) {
  return cudaHostAlloc(result, bytes, cudaHostAllocDefault);
}

OPGATE_SIM_API cudaError_t cudaMallocManaged(void** result, std::size_t bytes, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
      refuse(cudaErrorInvalidValue);
    allocate_on_host(simulator, result, bytes, HostBlock::Kind::managed, flags);
  });
}

OPGATE_SIM_API cudaError_t cudaFreeHost(void* pointer) {
  return api_release([&](Simulator& simulator) {
    if (pointer == nullptr) return;
    simulator.captures.refuse_unsafe_call();
    simulator.execution.complete_all();
    if (!simulator.memory.host().release(address_of(pointer), HostBlock::Kind::pinned))
      refuse(cudaErrorInvalidValue, "cudaFreeHost of a pointer that cudaHostAlloc did not give");
  });
}

OPGATE_SIM_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return api_call([&](Simulator& simulator) {
    if (pointer == nullptr || bytes == 0) refuse(cudaErrorInvalidValue);
    simulator.captures.refuse_unsafe_call();
    if (!simulator.memory.host().add_registered(address_of(pointer), bytes, flags, devices::current()))
      refuse(cudaErrorHostMemoryAlreadyRegistered);
    if (simulator.stream_watch != nullptr) simulator.stream_watch->begins(address_of(pointer), bytes);
  });
}

OPGATE_SIM_API cudaError_t cudaHostUnregister(void* pointer) {
  return api_call([&](Simulator& simulator) {
    simulator.captures.refuse_unsafe_call();
    simulator.execution.complete_all();
    if (!simulator.memory.host().remove_registered(address_of(pointer)))
      refuse(cudaErrorHostMemoryNotRegistered);
  });
}

OPGATE_SIM_API cudaError_t cudaHostGetDevicePointer(void** result, void* pointer, unsigned /*flags*/) {
  return api_call([&](Simulator& simulator) {
    require(result);
    if (simulator.memory.host().find(address_of(pointer)) == nullptr) refuse(cudaErrorInvalidValue);
    *result = pointer;
  });
}

OPGATE_SIM_API cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api_call([&](Simulator& simulator) {
    require(flags);
    const HostBlock* const block = simulator.memory.host().find(address_of(pointer));
    if (block == nullptr || block->kind != HostBlock::Kind::pinned) refuse(cudaErrorInvalidValue);
    *flags = block->flags;
  });
}

OPGATE_SIM_API cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  return api_call([&](Simulator& simulator) {
    require(available);
    require(total);
    const Heap& heap = simulator.memory.heap(devices::current());
    *total = heap.capacity();
    *available = heap.capacity() - heap.used();
  });
}

OPGATE_SIM_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result, const void* pointer) {
  return api_call([&](Simulator& simulator) {
    require(result);
    MemoryMap& memory = simulator.memory;
    const std::uint64_t address = address_of(pointer);
    void* const plain = const_cast<void*>(pointer);
    *result = {};
    result->type = cudaMemoryTypeUnregistered;
    result->device = cudaInvalidDeviceId;
    result->hostPointer = plain;
    if (memory.range().holds(address)) {
      const int device = memory.range().device_of(address);
      result->hostPointer = nullptr;
      if (memory.heap(device).find(address) == nullptr) return;
      result->type = cudaMemoryTypeDevice;
      result->device = device;
      result->devicePointer = plain;
    } else if (const HostBlock* const block = memory.host().find(address)) {
      const bool managed = block->kind == HostBlock::Kind::managed;
      result->type = managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
      result->device = block->device;
      result->devicePointer = plain;
    }
  });
}
