// Kernels of which all that they leave in memory is compared: products of warpgroups, and what is
// copied and reduced asynchronously.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "card/side.h"

namespace opgate::card {

struct KernelForm {
  std::string group;
  std::string text;  ///< of the instruction, and what it is executed with
  std::function<Work()> work;
};

std::vector<KernelForm> all_kernel_forms();

std::vector<KernelForm> warpgroup_forms();
std::vector<KernelForm> async_forms();

}  // namespace opgate::card
