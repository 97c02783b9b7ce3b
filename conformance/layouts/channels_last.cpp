#include <c10/core/MemoryFormat.h>

#include "layouts/layout.h"

namespace opgate::channels_last {
namespace {

void offer(c10::IntArrayRef sizes, std::vector<Placement>& placements) {
  if (sizes.size() == 4) {
    placements.push_back({"channels-last", geometry(sizes.vec(), c10::get_channels_last_strides_2d(sizes))});
  } else if (sizes.size() == 5) {
    placements.push_back({"channels-last", geometry(sizes.vec(), c10::get_channels_last_strides_3d(sizes))});
  }
}

OPGATE_REGISTER_LAYOUT(
    channels_last,
    {.name = "channels-last",
     .explanation =
         "x.to(memory_format=torch.channels_last): channels innermost, dense; finds kernels that assume NCHW",
     .offer = &offer});

}  // namespace
}  // namespace opgate::channels_last
