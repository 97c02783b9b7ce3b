#include "runtime/graphs/condition.h"

#include <cstring>

#include "runtime/memory/memory_map.h"

namespace opgate::simulator {

Condition::Condition(MemoryMap& memory, int device, unsigned default_value, bool is_assigned)
    : memory_(memory),
      device_(device),
      default_value_(default_value),
      is_assigned_(is_assigned),
      address_(memory.allocate(device, sizeof(unsigned))) {
  set(0);
}

Condition::~Condition() { memory_.heap(device_).release(address_); }

unsigned Condition::value() const {
  unsigned value = 0;
  std::memcpy(&value, memory_.range().alias(address_), sizeof(value));
  return value;
}

void Condition::set(unsigned value) {
  std::memcpy(memory_.range().alias(address_), &value, sizeof(value));
  memory_.mark_written(address_, sizeof(value));
}

void Condition::begin_launch() {
  if (is_assigned_) set(default_value_);
}

}  // namespace opgate::simulator
