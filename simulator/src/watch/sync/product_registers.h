// Which registers belong to products of `wgmma`: from the start of a product to the end of a wait for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "ptx/instruction.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

/// Those of the threads of one block. It reports uses that nothing orders.
class ProductRegisters {
 public:
  explicit ProductRegisters(const WatchedLaunch& launch) : launch_(launch) {}

  void clear() { of_threads_.clear(); }

  void issue_product(const Thread& thread, const Instruction& instruction, std::uint64_t group);
  void fence(const Thread& thread);
  void wait(const Thread& thread, std::uint64_t first_left);
  void use(const Thread& thread, const Instruction& instruction);

 private:
  /// The latest product that a register belongs to.
  struct InFlight {
    std::uint32_t site = 0;
    std::uint64_t group = 0;
    bool is_copy = false;  ///< of a register that the product names
  };
  /// Where a thread has used a register since its last `wgmma.fence`.
  struct Used {
    std::uint32_t site = 0;
    bool is_written = false;
  };
  struct OfThread {
    std::unordered_map<Slot, InFlight> in_flight;
    std::unordered_map<Slot, Used> used;  ///< since the last fence; a move is no use
    bool has_fence = false;
  };

  static void note_use(OfThread& registers, const Function& function, const Instruction& in,
                       const OperandForm& form);
  void report_use(const Thread& thread, std::uint32_t site, const InFlight& used) const;
  void report(const Thread& thread, std::uint32_t site, std::uint32_t other,
              const std::string& message) const;

  const WatchedLaunch& launch_;
  std::map<const Thread*, OfThread> of_threads_;
};

}  // namespace opgate::simulator
