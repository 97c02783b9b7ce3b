// The operands of an instruction: values in the slots of a frame.
#pragma once

#include "machine/thread.h"
#include "numbers/values.h"

namespace opgate::simulator {

template <class T>
T read(const Thread& thread, const Instruction& in, int operand) {
  return from_bits<T>(thread.registers[in.slots[static_cast<std::size_t>(operand)]]);
}

template <class T>
void write(Thread& thread, const Instruction& in, int operand, T value) {
  thread.registers[in.slots[static_cast<std::size_t>(operand)]] = to_bits(value);
}

}  // namespace opgate::simulator
