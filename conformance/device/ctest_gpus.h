// The GPUs that ctest allocates to a test with RESOURCE_GROUPS "gpus:1".
#pragma once

namespace opgate {

/// Where ctest allocates GPUs (--resource-spec-file, resource type `gpus`), sets CUDA_VISIBLE_DEVICES to
/// their ids, so that this process and its children use only those. Must be called before anything asks the
/// driver. Throws SetupError if ctest's variables do not have the format of its manual.
void take_ctest_gpus();

}  // namespace opgate
