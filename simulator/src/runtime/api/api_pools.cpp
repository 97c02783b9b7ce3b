// Memory in the order of streams, and its pools.
#include <cstring>

#include "runtime/api/api.h"
#include "runtime/findings/report.h"
#include "runtime/graphs/graph_memory.h"

using namespace opgate::simulator;

namespace {

void allocate_in(Simulator& simulator, void** result, std::size_t bytes, cudaMemPool_t pool, Stream& stream) {
  require(result);
  const auto& from = simulator.pools.at(pool);
  *result = nullptr;
  if (bytes == 0) return;
  if (stream.capture != nullptr) {
    *result = reinterpret_cast<void*>(issue_graph_allocation(simulator, from->device(), bytes, stream));
    return;
  }
  const std::uint64_t address = simulator.memory.allocate(from->device(), bytes);
  from->note_allocation(bytes);
  simulator.pools.remember(address, from);
  *result = reinterpret_cast<void*>(address);
  if (simulator.stream_watch == nullptr) return;
  // Other streams may use it only after this place in the stream.
  simulator.execution.issue(stream, {[&simulator, address, bytes] {
                                       if (simulator.stream_watch != nullptr)
                                         simulator.stream_watch->writes("cudaMallocAsync", address, bytes);
                                     },
                                     cudaGraphNodeTypeMemAlloc});
}

void release_block(Simulator& simulator, std::uint64_t address) {
  Heap& heap = simulator.memory.heap(simulator.memory.range().device_of(address));
  const Allocation* const block = heap.find(address);
  const std::size_t bytes = block == nullptr ? 0 : block->bytes;
  if (!heap.release(address)) {
    errors::set_sticky(cudaErrorIllegalAddress, "cudaFreeAsync of " + heap.explain(address, 1));
    return;
  }
  if (simulator.stream_watch != nullptr) {
    simulator.stream_watch->writes("cudaFreeAsync", address, bytes);
    simulator.stream_watch->ends(address, bytes);
  }
  if (const auto pool = simulator.pools.forget(address)) pool->note_release(bytes);
}

template <class Value>
void write(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaMallocAsync(void** result, std::size_t bytes, cudaStream_t handle) {
  return api_call([&](Simulator& simulator) {
    const auto stream = simulator.stream(handle);
    allocate_in(simulator, result, bytes, simulator.pools.current_of(stream->device), *stream);
  });
}

OPGATE_SIM_API cudaError_t cudaMallocFromPoolAsync(void** result, std::size_t bytes, cudaMemPool_t pool,
                                                   cudaStream_t stream) {
  return api_call(
      [&](Simulator& simulator) { allocate_in(simulator, result, bytes, pool, *simulator.stream(stream)); });
}

OPGATE_SIM_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return api_release([&](Simulator& simulator) {
    if (pointer == nullptr) return;
    const auto stream = simulator.stream(handle);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (!simulator.memory.range().holds(address)) refuse(cudaErrorInvalidValue);
    const Heap& heap = simulator.memory.heap(simulator.memory.range().device_of(address));
    const Allocation* block = heap.find_reserved(address);
    if (block == nullptr && stream->capture != nullptr)
      refuse(cudaErrorInvalidValue,
             "cudaFreeAsync in a captured graph of memory that no graph has allocated");
    if (block == nullptr) block = heap.find(address);
    if (block == nullptr || block->begin != address)
      refuse(cudaErrorInvalidValue, "cudaFreeAsync of " + heap.explain(address, 1));
    simulator.execution.issue(
        *stream, {[&simulator, address] { release_block(simulator, address); }, cudaGraphNodeTypeMemFree});
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api_call(give(pool, [&](Simulator& simulator) {
    devices::require(device);
    return simulator.pools.default_of(device);
  }));
}

OPGATE_SIM_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return api_call(give(pool, [&](Simulator& simulator) {
    devices::require(device);
    return simulator.pools.current_of(device);
  }));
}

OPGATE_SIM_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api_call([&](Simulator& simulator) {
    devices::require(device);
    simulator.pools.set_current(device, pool);
  });
}

OPGATE_SIM_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return api_call([&](Simulator& simulator) {
    require(pool);
    require(properties);
    if (properties->location.type != cudaMemLocationTypeDevice ||
        properties->handleTypes != cudaMemHandleTypeNone)
      refuse(cudaErrorNotSupported,
             "a memory pool that is shared, or not of a device, which is not simulated");
    devices::require(properties->location.id);
    *pool = simulator.pools.create(properties->location.id);
  });
}

OPGATE_SIM_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api_call([&](Simulator& simulator) { simulator.pools.destroy(pool); });
}

OPGATE_SIM_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                   void* value) {
  return api_call([&](Simulator& simulator) {
    require(value);
    MemoryPool& pool = *simulator.pools.at(handle);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool.reuse[attribute] = *static_cast<int*>(value);
        break;
      case cudaMemPoolAttrReleaseThreshold:
        pool.release_threshold = *static_cast<std::uint64_t*>(value);
        break;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (*static_cast<std::uint64_t*>(value) != 0) refuse(cudaErrorInvalidValue);
        pool.forget_most_used();
        break;
      default:
        refuse(cudaErrorInvalidValue);
    }
  });
}

OPGATE_SIM_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute,
                                                   void* value) {
  return api_call([&](Simulator& simulator) {
    require(value);
    const MemoryPool& pool = *simulator.pools.at(handle);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        write(value, pool.reuse.at(attribute));
        break;
      case cudaMemPoolAttrReleaseThreshold:
        write(value, pool.release_threshold);
        break;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        write(value, pool.used());
        break;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        write(value, pool.most_used());
        break;
      default:
        refuse(cudaErrorInvalidValue);
    }
  });
}

// Nothing is kept in reserve.
OPGATE_SIM_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t /*kept*/) {
  return api_call([&](Simulator& simulator) { static_cast<void>(simulator.pools.at(pool)); });
}

OPGATE_SIM_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* descriptions,
                                                std::size_t count) {
  return api_call([&](Simulator& simulator) {
    const MemoryPool& pool = *simulator.pools.at(handle);
    for (std::size_t i = 0; i < count; ++i) {
      devices::require(descriptions[i].location.id);
      if (descriptions[i].location.id != pool.device())
        refuse(cudaErrorNotSupported, "access of another device to a memory pool, which is not simulated");
    }
  });
}

// Nothing is kept in reserve, so that what is reserved is what is used.
OPGATE_SIM_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                          void* value) {
  return api_call([&](Simulator& simulator) {
    devices::require(device);
    require(value);
    const Heap& heap = simulator.memory.heap(device);
    const bool now =
        attribute == cudaGraphMemAttrUsedMemCurrent || attribute == cudaGraphMemAttrReservedMemCurrent;
    write(value, std::uint64_t{now ? heap.used_by_graphs() : heap.most_used_by_graphs()});
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api_call([&](Simulator&) { devices::require(device); });
}

OPGATE_SIM_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType /*attribute*/,
                                                          void* value) {
  return api_call([&](Simulator& simulator) {
    devices::require(device);
    require(value);
    if (*static_cast<std::uint64_t*>(value) != 0) refuse(cudaErrorInvalidValue);
    simulator.memory.heap(device).forget_most_used_by_graphs();
  });
}
