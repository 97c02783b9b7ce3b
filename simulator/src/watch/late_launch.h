// A launch whose stores become visible to other blocks late.
#pragma once

#include <cstdint>
#include <memory>

#include "machine/launches/launch.h"
#include "machine/launches/launch_observer.h"
#include "machine/memory/late_stores.h"
#include "watch/annotations.h"

namespace opgate::simulator {

/// Stands before the observer of the tools, which may be null.
class LateLaunch final : public LaunchObserver {
 public:
  /// The program of the launch must have its annotations.
  LateLaunch(const Launch& launch, DeviceMemory& memory, LaunchObserver* tools);

  std::unique_ptr<BlockObserver> watch_block() override;
  void begin_memory(std::uint64_t address, std::size_t bytes) override;

  LateStores& stores() { return stores_; }
  std::uint32_t number_of_next_block() { return ++blocks_; }

  /// The thread is about to execute the instruction, which has an annotation.
  void prepare(Thread& thread, const Instruction& instruction);

 private:
  void prepare_access(Thread& thread, const Instruction& instruction, std::uint64_t address);
  bool is_of_host(std::uint64_t address);

  DeviceMemory& memory_;
  LaunchObserver* tools_;
  LateStores stores_;
  bool blocks_are_alone_;  ///< in their clusters
  std::uint32_t blocks_ = 0;
  Allocated last_;  ///< in which the last access was
};

}  // namespace opgate::simulator
