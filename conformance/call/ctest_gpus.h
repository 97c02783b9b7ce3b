// GPUs that ctest gave to a test with RESOURCE_GROUPS "gpus:1".
#pragma once

namespace opgate {

/// Where ctest hands out GPUs (--resource-spec-file, resource type `gpus`), this process and its children see
/// those alone: CUDA_VISIBLE_DEVICES is set to their ids. Before anything asks the driver. Throws SetupError
/// where ctest's variables are not as its manual has them.
void take_ctest_gpus();

}  // namespace opgate
