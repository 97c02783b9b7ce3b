// Reads the operands of an instruction.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/instruction_set.h"
#include "ptx/names.h"
#include "ptx/source/tokens.h"

namespace opgate::simulator {

/// The tokens of one statement, without its semicolon.
using Statement = std::vector<Token>;

class OperandReader {
 public:
  /// `insert` adds an instruction in front of the one that is read: some operands must be computed.
  OperandReader(const InstructionSet& instructions, Names& names, const Statement& statement, std::size_t at,
                std::string_view opcode, std::vector<Instruction>& insert)
      : instructions_(instructions),
        names_(names),
        statement_(statement),
        at_(at),
        opcode_(opcode),
        insert_(insert) {}

  std::vector<Operand> read_all();

 private:
  Token peek() const { return at_ < statement_.size() ? statement_[at_] : Token{{}, line()}; }
  Token next();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  unsigned line() const { return statement_.empty() ? 0 : statement_.back().line; }

  Operand read_one();
  Operand read_address();
  void read_coordinates(Operand& operand);
  Slot read_value();
  Slot read_name(const Token& name);
  Slot inverted(Slot predicate);
  std::uint64_t read_number(const Token& token, bool negative) const;
  Slot computed(Handler handler, Slot source);

  const InstructionSet& instructions_;
  Names& names_;
  const Statement& statement_;
  std::size_t at_;
  std::string_view opcode_;
  std::vector<Instruction>& insert_;
  bool is_predicate_ = false;   ///< the value that was read last
  std::string_view part_ = {};  ///< of it
};

}  // namespace opgate::simulator
