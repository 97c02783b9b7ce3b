// Which memory `wmma.load` and `wmma.store` access, for tools that watch.
#pragma once

#include <cstdint>
#include <functional>

namespace opgate::simulator {

class Thread;

/// Calls a function with the number in the thread, the address and the bytes of each element that the thread
/// loads or stores by the instruction at which it is. Throws KernelFault if the addresses are misaligned.
void for_each_element_of_wmma(
    const Thread& thread, bool is_load,
    const std::function<void(unsigned number, std::uint64_t address, unsigned bytes)>& visit);

}  // namespace opgate::simulator
