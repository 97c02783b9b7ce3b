// The value of a conditional node of a graph. It lies in device memory, and its handle is its address there.
#pragma once

#include <cstdint>

namespace opgate::simulator {

class MemoryMap;

class Condition {
 public:
  /// Refuses with cudaErrorMemoryAllocation. `is_assigned`: each launch begins with the default value.
  Condition(MemoryMap& memory, int device, unsigned default_value, bool is_assigned);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  std::uint64_t handle() const { return address_; }
  unsigned value() const;
  void begin_launch();

 private:
  void set(unsigned value);

  MemoryMap& memory_;
  int device_;
  unsigned default_value_;
  bool is_assigned_;
  std::uint64_t address_;
};

}  // namespace opgate::simulator
