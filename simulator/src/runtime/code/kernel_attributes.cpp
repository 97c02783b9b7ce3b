#include "runtime/code/kernel_attributes.h"

#include <string>

#include "runtime/code/architecture.h"
#include "runtime/findings/errors.h"
#include "runtime/launches/launch.h"

namespace opgate::simulator {

void set_kernel_attribute(MemoryMap& memory, Kernel& kernel, cudaFuncAttribute attribute, int value,
                          int device) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      const Signature& signature = signature_of(kernel, device, memory);
      if (value < 0 ||
          static_cast<std::size_t>(value) + signature.static_shared_bytes > architecture().shared_of_block)
        refuse(cudaErrorInvalidValue);
      kernel.dynamic_shared[device] = static_cast<std::size_t>(value);
      break;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) refuse(cudaErrorInvalidValue);
      break;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel.allows_large_clusters = value != 0;
      break;
    default:
      refuse(cudaErrorNotSupported, "cudaFuncSetAttribute(" + std::to_string(static_cast<int>(attribute)) +
                                        "), which is not simulated");
  }
}

cudaFuncAttributes kernel_attributes(Kernel& kernel, int device, MemoryMap& memory) {
  const Signature& signature = signature_of(kernel, device, memory);
  const auto opted = kernel.dynamic_shared.find(device);
  cudaFuncAttributes result{};
  result.sharedSizeBytes = signature.static_shared_bytes;
  result.localSizeBytes = signature.local_bytes;
  result.maxThreadsPerBlock = static_cast<int>(signature.max_threads);
  result.maxDynamicSharedSizeBytes = static_cast<int>(opted != kernel.dynamic_shared.end()
                                                          ? opted->second
                                                          : kSharedByDefault - signature.static_shared_bytes);
  // PTX does not say how many registers the machine code needs. This is what a block of the largest size may
  // have.
  result.numRegs = static_cast<int>(kRegisters / kThreadsOfBlock / 2);
  result.ptxVersion = static_cast<int>(signature.target);
  result.binaryVersion = static_cast<int>(architecture().capability);
  result.preferredShmemCarveout = -1;
  return result;
}

}  // namespace opgate::simulator
