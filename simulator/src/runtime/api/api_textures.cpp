// Objects by which kernels read and write images.
#include <cstring>

#include "machine/memory/texture.h"
#include "runtime/api/api.h"
#include "runtime/memory/cuda_array.h"

using namespace opgate::simulator;

namespace {

using Beyond = ImageObject::Beyond;

// What the device can read well, as its properties have it.
constexpr std::uint64_t kAlignment = 512;
constexpr std::uint64_t kPitchAlignment = 32;

Image image_of_memory(const void* pointer, const cudaChannelFormatDesc& format) {
  Image image = image_of(format);
  image.address = reinterpret_cast<std::uint64_t>(pointer);
  if (image.address == 0 || image.address % kAlignment != 0)
    refuse(cudaErrorInvalidValue, "a texture of memory that does not begin at a multiple of 512 bytes");
  return image;
}

ImageObject object_of(Simulator& simulator, const cudaResourceDesc& resource) {
  ImageObject object;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      object.image = simulator.arrays.at(resource.res.array.array)->image;
      return object;
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      object.image = image_of_memory(linear.devPtr, linear.desc);
      object.image.sizes[0] = static_cast<std::uint32_t>(linear.sizeInBytes / object.image.element_bytes());
      object.is_linear_memory = true;
      return object;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      object.image = image_of_memory(rows.devPtr, rows.desc);
      if (rows.width == 0 || rows.height == 0 || rows.pitchInBytes % kPitchAlignment != 0 ||
          rows.pitchInBytes < rows.width * object.image.element_bytes())
        refuse(cudaErrorInvalidValue);
      object.image.sizes = {static_cast<std::uint32_t>(rows.width), static_cast<std::uint32_t>(rows.height),
                            1};
      object.image.rank = 2;
      object.image.row_pitch = rows.pitchInBytes;
      return object;
    }
    default:
      refuse(cudaErrorNotSupported, "a texture of a mipmapped array");
  }
}

// Without normalized coordinates nothing repeats.
Beyond beyond_of(cudaTextureAddressMode mode, bool is_normalized) {
  switch (mode) {
    case cudaAddressModeWrap:
      return is_normalized ? Beyond::wraps : Beyond::clamps;
    case cudaAddressModeMirror:
      return is_normalized ? Beyond::mirrors : Beyond::clamps;
    case cudaAddressModeBorder:
      return Beyond::is_border;
    case cudaAddressModeClamp:
      break;
  }
  return Beyond::clamps;
}

void describe(const cudaTextureDesc& texture, ImageObject& object) {
  if (texture.sRGB != 0) refuse(cudaErrorNotSupported, "a texture of the color space sRGB");
  if (texture.maxAnisotropy > 1) refuse(cudaErrorNotSupported, "an anisotropic texture");
  object.mark = ImageObject::kTexture;
  object.is_normalized = texture.normalizedCoords != 0;
  for (std::size_t i = 0; i < object.beyond.size(); ++i)
    object.beyond[i] = beyond_of(texture.addressMode[i], object.is_normalized);
  // Integers of 32 bits stay what they are.
  const bool is_integer = object.image.kind != Image::Kind::floating;
  object.gives_fractions =
      texture.readMode == cudaReadModeNormalizedFloat && is_integer && object.image.channel_bytes < 4;
  object.interpolates = texture.filterMode == cudaFilterModeLinear;
  if (object.interpolates && is_integer && !object.gives_fractions)
    refuse(cudaErrorInvalidValue, "a texture of integers with cudaFilterModeLinear");
  std::copy(std::begin(texture.borderColor), std::end(texture.borderColor), object.border.begin());
}

// The handle is where the object lies.
std::uint64_t add(Simulator& simulator, const ImageObject& object) {
  const std::uint64_t address = simulator.memory.allocate(devices::current(), ImageObject::kBytes);
  std::memcpy(simulator.memory.range().alias(address), &object, sizeof(object));
  simulator.memory.mark_written(address, ImageObject::kBytes);
  return address;
}

const ImageObjectOrigin& origin_of(Simulator& simulator, std::uint64_t handle) {
  const auto known = simulator.image_objects.find(handle);
  if (known == simulator.image_objects.end()) refuse(cudaErrorInvalidValue);
  return known->second;
}

void remove(Simulator& simulator, std::uint64_t handle) {
  const AddressRange& range = simulator.memory.range();
  // Work that is still to run may use it.
  simulator.execution.complete_all();
  if (!range.holds(handle) || simulator.image_objects.erase(handle) == 0 ||
      !simulator.memory.heap(range.device_of(handle)).release(handle))
    refuse(cudaErrorInvalidValue);
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* result,
                                                   const cudaResourceDesc* resource,
                                                   const cudaTextureDesc* texture,
                                                   const cudaResourceViewDesc* view) {
  return api_call([&](Simulator& simulator) {
    require(result);
    require(resource);
    require(texture);
    if (view != nullptr) refuse(cudaErrorNotSupported, "a texture with a view of its resource");
    ImageObject object = object_of(simulator, *resource);
    describe(*texture, object);
    *result = add(simulator, object);
    simulator.image_objects[*result] = {*resource, *texture};
  });
}

OPGATE_SIM_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return api_release([&](Simulator& simulator) { remove(simulator, handle); });
}

OPGATE_SIM_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                            cudaTextureObject_t handle) {
  return api_call(
      give(resource, [&](Simulator& simulator) { return origin_of(simulator, handle).resource; }));
}

OPGATE_SIM_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                                           cudaTextureObject_t handle) {
  return api_call(give(texture, [&](Simulator& simulator) { return origin_of(simulator, handle).texture; }));
}

OPGATE_SIM_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result,
                                                   const cudaResourceDesc* resource) {
  return api_call([&](Simulator& simulator) {
    require(result);
    require(resource);
    if (resource->resType != cudaResourceTypeArray) refuse(cudaErrorInvalidValue);
    if ((simulator.arrays.at(resource->res.array.array)->flags & cudaArraySurfaceLoadStore) == 0)
      refuse(cudaErrorInvalidValue, "a surface of a CUDA array without cudaArraySurfaceLoadStore");
    ImageObject object = object_of(simulator, *resource);
    object.mark = ImageObject::kSurface;
    *result = add(simulator, object);
    simulator.image_objects[*result] = {*resource, {}};
  });
}

OPGATE_SIM_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return api_release([&](Simulator& simulator) { remove(simulator, handle); });
}

OPGATE_SIM_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                            cudaSurfaceObject_t handle) {
  return cudaGetTextureObjectResourceDesc(resource, handle);
}
