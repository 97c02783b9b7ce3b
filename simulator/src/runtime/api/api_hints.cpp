// What makes programs faster on a device: where managed memory lies, and what stays in caches. It changes
// nothing here. Limits of stacks and buffers are kept, and there is always enough of them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "runtime/api/api.h"
#include "runtime/memory/host_memory.h"

using namespace opgate::simulator;

namespace {

void require_managed(Simulator& simulator, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const HostBlock* const block = simulator.memory.host().find(address);
  if (block == nullptr || block->kind != HostBlock::Kind::managed || bytes == 0 ||
      bytes > block->end() - address)
    refuse(cudaErrorInvalidValue);
}

void require_place(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeDevice && (location.id < 0 || location.id >= settings().devices))
    refuse(cudaErrorInvalidDevice);
}

// What a device has at first, in bytes, or levels of nested launches.
const std::map<cudaLimit, std::size_t> kLimits = {{cudaLimitStackSize, 1024},
                                                  {cudaLimitPrintfFifoSize, 8650752},
                                                  {cudaLimitDevRuntimePendingLaunchCount, 2048},
                                                  {cudaLimitMaxL2FetchGranularity, 64},
                                                  {cudaLimitPersistingL2CacheSize, 0}};

// For the current device.
std::size_t& limit(cudaLimit which) {
  static std::map<std::pair<int, cudaLimit>, std::size_t> limits;
  const auto first = kLimits.find(which);
  if (first == kLimits.end()) refuse(cudaErrorUnsupportedLimit);
  return limits.try_emplace({devices::current(), which}, first->second).first->second;
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes,
                                                cudaMemLocation location, unsigned flags,
                                                cudaStream_t stream) {
  return api_call([&](Simulator& simulator) {
    static_cast<void>(simulator.stream(stream));
    if (flags != 0) refuse(cudaErrorInvalidValue);
    require_managed(simulator, pointer, bytes);
    require_place(location);
  });
}

OPGATE_SIM_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise /*advice*/,
                                         cudaMemLocation location) {
  return api_call([&](Simulator& simulator) {
    require_managed(simulator, pointer, bytes);
    require_place(location);
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceSetLimit(cudaLimit which, std::size_t value) {
  return api_call([&](Simulator& simulator) {
    if (which != cudaLimitMallocHeapSize) {
      limit(which) = value;
      return;
    }
    Heap& heap = simulator.memory.heap_of_kernels(devices::current());
    if (heap.is_used())
      refuse(cudaErrorInvalidValue,
             "cudaDeviceSetLimit(cudaLimitMallocHeapSize) after a kernel has used its heap");
    heap.set_capacity(value);
  });
}

OPGATE_SIM_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit which) {
  return api_call(give(value, [&](Simulator& simulator) {
    return which == cudaLimitMallocHeapSize ? simulator.memory.heap_of_kernels(devices::current()).capacity()
                                            : limit(which);
  }));
}

OPGATE_SIM_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache /*preference*/) {
  return api_call([](Simulator&) {});
}

OPGATE_SIM_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
  return api_call(give(preference, [&](Simulator&) { return cudaFuncCachePreferNone; }));
}

OPGATE_SIM_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return api_call([](Simulator&) {});
}

OPGATE_SIM_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                                  const cudaStreamAttrValue* value) {
  return api_call([&](Simulator& simulator) {
    require(value);
    static_cast<void>(simulator.stream(stream));
    if (attribute != cudaStreamAttributeAccessPolicyWindow &&
        attribute != cudaStreamAttributeSynchronizationPolicy)
      refuse(cudaErrorNotSupported,
             "cudaStreamSetAttribute(" + std::to_string(static_cast<int>(attribute)) + ")");
  });
}
