// A kernel and the functions that it calls, decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ptx/instruction.h"
#include "ptx/operand_form.h"
#include "ptx/signature.h"

namespace opgate::simulator {

/// A slot whose value a new frame must compute. `value` belongs to some of the kinds.
struct FrameValue {
  enum class Kind : std::uint8_t {
    thread_index,         ///< %tid, axis `value`
    block_extent,         ///< %ntid
    block_index,          ///< %ctaid
    grid_extent,          ///< %nctaid
    cluster_index,        ///< %clusterid
    clusters,             ///< %nclusterid
    index_in_cluster,     ///< %cluster_ctaid
    cluster_extent,       ///< %cluster_nctaid
    rank_in_cluster,      ///< %cluster_ctarank
    cluster_size,         ///< %cluster_nctarank
    is_explicit_cluster,  ///< %is_explicit_cluster
    lane,                 ///< %laneid
    lane_mask_equal,
    lane_mask_less,
    lane_mask_less_or_equal,
    lane_mask_greater,
    lane_mask_greater_or_equal,
    warp,            ///< %warpid
    warps,           ///< %nwarpid
    dynamic_shared,  ///< bytes of it
    workspace_low,   ///< %envreg2 and %envreg1, from which `grid.sync()` takes its address
    workspace_high,
    total_shared,
    local_address,  ///< `value` bytes after the start of the frame's local memory
  };
  Kind kind;
  Slot slot = 0;
  std::uint64_t value = 0;
};

/// What a call hands over, or a function takes: a register, or bytes of the frame's local memory.
struct Argument {
  bool in_register = false;
  Slot slot = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

struct Call {
  int callee = -1;   ///< index in the program; negative where the address is in a register
  Slot address = 0;  ///< of the function, for a callee that is known only when the call is executed
  std::vector<Argument> arguments;
  std::vector<Argument> results;
};

struct CompiledFunction;

struct Function {
  std::string name;
  std::vector<Instruction> code;
  std::vector<OperandForm> forms;            ///< of each instruction of `code`
  std::deque<std::vector<Slot>> wide_slots;  ///< `Instruction::wide` points here
  /// Whether the turn of a thread may end in front of an instruction: at the start, after a call, and where
  /// a loop may begin.
  std::vector<bool> turn_ends;
  const CompiledFunction* compiled = nullptr;
  std::vector<std::uint64_t> initial;    ///< the slots of a new frame
  Slot nowhere = -1;                     ///< the slot that stands for `_`, and that nothing reads
  std::vector<FrameValue> frame_values;  ///< those of them that depend on the thread
  std::size_t local_bytes = 0;           ///< variables, and what is handed over in calls
  std::vector<Argument> arguments;
  std::vector<Argument> results;
  std::vector<Call> calls;
  std::vector<std::vector<std::int64_t>> branch_tables;
  std::uint32_t first_number =
      1;  ///< of its first instruction, where those of all functions are numbered from 1

  /// The form of an instruction of `code`.
  const OperandForm& form_of(const Instruction& instruction) const {
    return forms[static_cast<std::size_t>(&instruction - code.data())];
  }
};

/// A slot that holds the address of a variable in global or constant memory.
struct VariableSlot {
  std::size_t function = 0;
  Slot slot = 0;
  std::string variable;
  std::uint64_t addend = 0;
};

struct Program {
  Signature signature;
  std::vector<std::unique_ptr<Function>> functions;  ///< the kernel is the first
  std::vector<VariableSlot> variable_slots;
  std::map<std::uint64_t, std::size_t>
      addresses;  ///< of functions whose address may be in a register, with their index
  std::size_t dynamic_shared_offset = 0;
  std::uint32_t sites = 0;
  std::set<std::string> texts;         ///< of opcodes; instructions refer to them
  std::vector<std::string> locations;  ///< "file:line"; the first is empty
  /// Whether threads of a block may hold copies of the same elements, as Triton's compiler lays out small
  /// tensors.
  bool threads_hold_copies = false;
};

}  // namespace opgate::simulator
