#include "simulator/machine/memory.h"

namespace opgate::simulator {

void report_misaligned(const Instruction& in, std::uint64_t address, std::size_t bytes) {
  throw KernelFault{Fault::misaligned_address, *in.text + " of " + std::to_string(bytes) + " bytes at " +
                                                   hexadecimal(address) + ", which is not a multiple of " +
                                                   std::to_string(bytes)};
}

void report_outside(const Instruction& in, Space space, std::uint64_t address, std::size_t bytes,
                    std::size_t size) {
  const char* const name = space == Space::shared  ? "shared memory"
                           : space == Space::local ? "local memory of the thread"
                                                   : "parameters";
  std::string why = size == 0 && space == Space::parameter
                        ? ", which cannot be written"
                        : ", of which there are " + std::to_string(size) + " bytes";
  throw KernelFault{Fault::trap, *in.text + " of " + std::to_string(bytes) + " bytes at " +
                                     hexadecimal(address) + " of the " + name + why};
}

}  // namespace opgate::simulator
