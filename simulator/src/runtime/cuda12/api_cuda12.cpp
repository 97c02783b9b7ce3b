// The functions of CUDA 12 whose arguments, or the structures that these point to, are others in CUDA 13. The
// functions of CUDA 13 do the work.
#include <cstring>

#include "runtime/api/api.h"
#include "runtime/cuda12/structures.h"

using namespace opgate::simulator;

namespace {

// That of the list other_functions.txt.
constexpr int kVersion = 12090;

cudaMemLocation place_of(int device) {
  cudaMemLocation place{};
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device;
  return place;
}

// The program's structure ends before that of CUDA 13 does.
cudaResourceDesc resource_of(const void* resource) {
  cudaResourceDesc longer{};
  std::memcpy(&longer, resource, cuda12::kBytesOfResource);
  return longer;
}

static_assert(sizeof(cuda12::PointerAttributes) == offsetof(cudaPointerAttributes, reserved));

template <class Field>
void copy_field(Field& to, const Field& from) {
  std::memcpy(&to, &from, sizeof(Field));
}

cuda12::DeviceProperties properties_for_12(int device) {
  const cudaDeviceProp from = devices::properties(device);
  cuda12::DeviceProperties to{};
#define OPGATE_SIM_BOTH(type, field, extent) copy_field(to.field, from.field);
#define OPGATE_SIM_REMOVED(field, which) to.field = devices::attribute(which, device).value_or(0);
  OPGATE_SIM_CUDA12_PROPERTIES(OPGATE_SIM_BOTH, OPGATE_SIM_REMOVED)
#undef OPGATE_SIM_BOTH
#undef OPGATE_SIM_REMOVED
  return to;
}

}  // namespace

OPGATE_SIM_API cudaError_t cuda12_RuntimeGetVersion(int* version) {
  return api_answer([&] {
    require(version);
    *version = kVersion;
  });
}

OPGATE_SIM_API cudaError_t cuda12_GetDeviceProperties_v2(cuda12::DeviceProperties* properties, int device) {
  return api_answer(
      [&] {
        require(properties);
        *properties = properties_for_12(device);
      },
      "cudaGetDeviceProperties");
}

OPGATE_SIM_API cudaError_t cuda12_PointerGetAttributes(cuda12::PointerAttributes* result,
                                                       const void* pointer) {
  cudaPointerAttributes longer{};
  const cudaError_t status = cudaPointerGetAttributes(result == nullptr ? nullptr : &longer, pointer);
  if (status == cudaSuccess) std::memcpy(result, &longer, sizeof(*result));
  return status;
}

OPGATE_SIM_API cudaError_t cuda12_MemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                                   cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, place_of(device), 0, stream);
}

OPGATE_SIM_API cudaError_t cuda12_MemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                            int device) {
  return cudaMemAdvise(pointer, bytes, advice, place_of(device));
}

// Captures and graphs: CUDA 13 gives each edge data, which the device does not use.

OPGATE_SIM_API cudaError_t cuda12_StreamGetCaptureInfo_v2(cudaStream_t stream,
                                                          cudaStreamCaptureStatus* status,
                                                          unsigned long long* id, cudaGraph_t* graph,
                                                          const cudaGraphNode_t** dependencies,
                                                          std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}

OPGATE_SIM_API cudaError_t cuda12_StreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                       unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

OPGATE_SIM_API cudaError_t cuda12_StreamUpdateCaptureDependencies(cudaStream_t stream,
                                                                  cudaGraphNode_t* dependencies,
                                                                  std::size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr, count, flags);
}

OPGATE_SIM_API cudaError_t cuda12_GraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                       const cudaGraphNode_t* to, std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

OPGATE_SIM_API cudaError_t cuda12_GraphAddNode(cudaGraphNode_t* result, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies, std::size_t count,
                                               cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(result, graph, dependencies, nullptr, count, parameters);
}

OPGATE_SIM_API cudaError_t cuda12_GraphNodeGetDependencies(cudaGraphNode_t node,
                                                           cudaGraphNode_t* dependencies,
                                                           std::size_t* count) {
  return cudaGraphNodeGetDependencies(node, dependencies, nullptr, count);
}

// Textures and surfaces.

OPGATE_SIM_API cudaError_t cuda12_CreateTextureObject(cudaTextureObject_t* result, const void* resource,
                                                      const cudaTextureDesc* texture,
                                                      const cudaResourceViewDesc* view) {
  if (resource == nullptr) return cudaCreateTextureObject(result, nullptr, texture, view);
  const cudaResourceDesc longer = resource_of(resource);
  return cudaCreateTextureObject(result, &longer, texture, view);
}

OPGATE_SIM_API cudaError_t cuda12_CreateSurfaceObject(cudaSurfaceObject_t* result, const void* resource) {
  if (resource == nullptr) return cudaCreateSurfaceObject(result, nullptr);
  const cudaResourceDesc longer = resource_of(resource);
  return cudaCreateSurfaceObject(result, &longer);
}

OPGATE_SIM_API cudaError_t cuda12_GetTextureObjectResourceDesc(void* resource, cudaTextureObject_t handle) {
  cudaResourceDesc longer{};
  const cudaError_t status =
      cudaGetTextureObjectResourceDesc(resource == nullptr ? nullptr : &longer, handle);
  if (status == cudaSuccess) std::memcpy(resource, &longer, cuda12::kBytesOfResource);
  return status;
}

OPGATE_SIM_API cudaError_t cuda12_GetSurfaceObjectResourceDesc(void* resource, cudaSurfaceObject_t handle) {
  return cuda12_GetTextureObjectResourceDesc(resource, handle);
}
