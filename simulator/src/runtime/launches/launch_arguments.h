// The pointers that a launch passes to its kernel, so that findings name what an address belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/signature.h"
#include "runtime/memory/heap.h"

namespace opgate::simulator {

class LaunchArguments {
 public:
  /// `parameters`: the block of parameters of the launch. A structure may hold several pointers. `names`: of
  /// the first parameters, as far as they are known.
  LaunchArguments(const Signature& signature, const std::vector<unsigned char>& parameters,
                  const std::vector<std::string>& names);

  /// "byte 400 of argument 2 (`out`) of the launch, which points to 400 bytes": from where the argument
  /// points to, up to the end of the allocation. Arguments are counted from 1, as the compiled kernel takes
  /// them: Triton passes neither constants nor None. Empty if no argument points into the allocation.
  std::string place_of(std::uint64_t address, const Allocation& allocation) const;

 private:
  struct Pointer {
    std::uint64_t address = 0;
    std::string argument;  ///< "2 (`out`)": its number, from 1, and its name if that is known
  };

  std::vector<Pointer> pointers_;
};

}  // namespace opgate::simulator
