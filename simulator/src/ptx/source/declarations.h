// What a module declares: everything outside of the bodies of its functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ptx/signature.h"
#include "ptx/source/tokens.h"
#include "ptx/types.h"

namespace opgate::simulator {

/// The place of an address in the initial bytes of a variable.
struct AddressInVariable {
  std::size_t offset = 0;
  std::string symbol;  ///< a variable or a function
  std::uint64_t addend = 0;
  bool generic = false;
};

/// A variable in any space, or a parameter.
struct Declared {
  std::string name;
  Type type = Type::none;
  std::size_t bytes = 0;
  std::size_t lanes = 1;  ///< of a vector
  std::size_t alignment = 1;
  bool sized = true;          ///< not for `name[]`, whose size the launch decides
  std::size_t registers = 0;  ///< for `%r<14>`: how many registers this declares; 0 for a single one
  std::vector<unsigned char> initial;
  std::vector<AddressInVariable> addresses;
};

struct Formal {
  Declared variable;
  bool in_register = false;
};

struct DeclaredFunction {
  std::string name;
  bool is_kernel = false;
  bool has_body = false;
  std::vector<Formal> results;
  std::vector<Formal> parameters;
  Passage body;
  unsigned line = 0;
  unsigned max_threads = 0;       ///< 0 where the PTX says nothing
  std::optional<Extent> cluster;  ///< none where the PTX says nothing
};

struct Declarations {
  unsigned target = 0;  ///< 90 for `.target sm_90a`
  std::map<std::string, DeclaredFunction> functions;
  std::vector<std::string> kernels;  ///< in the order of the PTX
  std::vector<Declared> variables;   ///< in global and constant memory
  std::vector<bool> is_constant;     ///< of each variable
  std::map<std::string, Declared> shared;
  std::map<std::uint64_t, std::string> files;  ///< by the number that `.loc` uses
  std::map<std::string, std::string> aliases;

  /// Null if there is none.
  const Declared* variable(const std::string& name) const;
  const DeclaredFunction* function(const std::string& name) const;

  /// What stands for the address of a function; the same in all kernels of the module.
  std::uint64_t address_of(const DeclaredFunction& function) const;
};

/// The name in the module of a variable in global or constant memory that a function declares in this line.
std::string name_in_module(const std::string& function, unsigned line, const std::string& variable);

/// Throws ParseError.
Declarations read_declarations(const std::string& ptx);

/// Reads `.align 4 .b8 name[16] = {...}` up to what ends it; the space was read before. Several names may
/// follow each other.
Declared read_variable(Tokens& tokens);
std::vector<Declared> read_variables(Tokens& tokens);

constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace opgate::simulator
