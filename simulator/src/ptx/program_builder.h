// Decodes a kernel with all functions that it calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/instruction_set.h"
#include "ptx/program.h"
#include "ptx/source/declarations.h"

namespace opgate::simulator {

class ProgramBuilder {
 public:
  ProgramBuilder(const Declarations& declarations, const InstructionSet& instructions)
      : declarations_(declarations), instructions_(instructions) {}

  /// Throws ParseError.
  std::unique_ptr<Program> build(const DeclaredFunction& kernel);

  // What the bodies of the functions need.

  const Declarations& declarations() const { return declarations_; }
  const InstructionSet& instructions() const { return instructions_; }

  /// The index in the program, where the function is decoded later. Negative where it has no body.
  int function_index(const std::string& name);

  /// The address of a function that has a body, for code that calls it by this address.
  std::uint64_t function_address(const std::string& name);
  /// A call by address may be one of any function whose address is in a variable.
  void add_functions_in_variables();

  /// The offset in shared memory. Variables of the module get one when a function names them.
  std::size_t place_shared(const Declared& variable);
  std::size_t place_shared_of_module(const Declared& variable);

  /// A slot whose value is the start of dynamic shared memory plus `addend`.
  void add_dynamic_shared_slot(std::size_t function, Slot slot, std::uint64_t addend, std::size_t alignment);
  void add_variable_slot(VariableSlot slot) { program_->variable_slots.push_back(std::move(slot)); }

  /// What the signature reports: the local memory of the kernel itself.
  void count_local(std::size_t function, std::size_t bytes) {
    if (function == 0) program_->signature.local_bytes += bytes;
  }

  const std::string* text(std::string_view opcode);
  std::uint32_t location(std::uint64_t file, std::uint64_t line);
  std::uint32_t next_site() { return ++program_->sites; }

 private:
  struct DynamicSlot {
    std::size_t function = 0;
    Slot slot = 0;
    std::uint64_t addend = 0;
  };

  void describe(const DeclaredFunction& kernel);
  void finish_shared();
  void number_instructions();

  const Declarations& declarations_;
  const InstructionSet& instructions_;
  std::unique_ptr<Program> program_;
  std::map<std::string, int> indices_;
  std::vector<const DeclaredFunction*> declared_;  ///< of the functions of the program
  std::map<std::string, std::size_t> shared_of_module_;
  std::map<std::string, std::uint32_t> locations_;
  std::vector<DynamicSlot> dynamic_slots_;
  std::size_t dynamic_alignment_ = 16;
};

}  // namespace opgate::simulator
