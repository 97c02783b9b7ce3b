// Writes the C code of one function: which variables hold its registers, and how they are read and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiled/roles.h"
#include "ptx/modifiers.h"
#include "ptx/program.h"
#include "ptx/types.h"

namespace opgate::simulator {

/// One instruction that is being translated.
struct Source {
  const Instruction& in;
  OperandForm form;
  const Roles& roles;
  Modifiers modifiers;  ///< translators take the words that they know, as selectors do
  std::size_t index = 0;
  std::size_t behind = 0;  ///< instructions of the chunk that follow

  Slot slot(std::size_t operand) const { return in.slot(operand); }
};

/// "u32" and so on. `bN` and predicates count as unsigned.
std::string name_in_c(Type type);
std::string unsigned_number(std::uint64_t value);

class Emitter {
 public:
  Emitter(const Program& program, std::size_t function, const std::vector<Roles>& roles);

  /// The value of the slot as an expression of this type. b32 and b64 are for bits that are only moved: they
  /// may be those of a number.
  std::string get(Slot slot, Type type);
  void set(Slot slot, Type type, const std::string& value);
  /// A result of arithmetic in single precision, in which every NaN means the one NaN.
  void set_result(Slot slot, const std::string& value);
  /// Moves bits of 32 or 64 bits: of `a` if the condition holds or is empty, else of `b`.
  void set_choice(Slot slot, Type type, const std::string& condition, Slot a, Slot b);
  /// Bits in single precision, where get() may give another NaN than the register has.
  std::string get_exactly(Slot slot);
  bool is_constant(Slot slot) const { return kinds_[static_cast<std::size_t>(slot)] == Kind::constant; }
  /// The slots that keep the value which they have in a new frame.
  std::vector<Slot> all_constants() const;
  std::uint64_t constant(Slot slot) const { return function_.initial[static_cast<std::size_t>(slot)]; }

  /// The whole slot.
  std::string bits_of(Slot slot) const;

  void line(const std::string& text) { text_ += text + "\n"; }

  /// Lets the interpreter execute the instruction.
  void hand_over(const Source& source);

  /// Calls a function. The registers of the caller that matter after the call have been saved, because the
  /// thread may be left in the function.
  void call(const Source& source);

  void save(Slot slot);
  void restore(Slot slot);
  /// The variables of all registers, and their values in a thread that begins.
  void declare();
  /// Sets the registers at the start of a function that has been called.
  void begin_function(const std::vector<Slot>& live);
  /// `live`: at the start of the kernel.
  void begin_thread(const std::vector<Slot>& live);
  void need_registers();

  /// Takes a second look, after all has been translated once: registers that only hold floating-point numbers
  /// become variables of such a type, or all stay in memory if moving them would be most of the text.
  void start_over();
  const std::string& text() const { return text_; }

  const Program& program() const { return program_; }
  const Function& function() const { return function_; }
  bool is_kernel() const { return is_kernel_; }

 private:
  enum class Kind : std::uint8_t { constant, loaded_constant, general, single, twofold };

  /// Names of the slots and of the start of local memory of a frame, in C.
  struct Side {
    std::string registers;
    std::string local;
  };

  void call_directly(const Source& source, const Call& call);
  void hand_over_arguments(const std::vector<Argument>& from, const Side& source,
                           const std::vector<Argument>& to, const Side& target);
  void note(Slot slot, Type type);
  bool may_be_inexact(Slot slot) const;
  void find_inexact();
  std::string variable(Slot slot) const;

  const Program& program_;
  const Function& function_;
  std::size_t number_;  ///< of the function in the program
  bool is_kernel_;
  std::vector<Kind> kinds_;
  std::vector<unsigned> uses_;
  /// Variables in single precision may hold any NaN where nothing but arithmetic gives them values: it is
  /// made the one NaN when its bits are wanted.
  std::vector<bool> inexact_;
  struct Copy {
    Slot to;
    Slot from;
  };
  std::vector<Copy> copies_;
  std::size_t moves_ = 0;  ///< lines that save or restore a register
  bool is_in_memory_ = false;
  std::string text_;
};

}  // namespace opgate::simulator
