// The names of a function, and the slots of its frame, while its body is read.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/program_builder.h"

namespace opgate::simulator {

/// What a name stands for.
struct Named {
  enum class Kind : std::uint8_t {
    unknown,
    register_,
    vector,  ///< of registers, whose elements have names of their own
    constant,
    parameter,
    local,
    shared,
    dynamic_shared,
    variable,
    frame_value,
    clock
  };

  Kind kind = Kind::unknown;
  Slot slot = -1;           ///< of a register; negative until it is used
  std::uint64_t value = 0;  ///< of a constant; the offset in parameters, local or shared memory
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  bool is_predicate = false;
  std::string variable = {};        ///< the name of a variable in the module
  std::vector<Slot> elements = {};  ///< of a vector
  FrameValue::Kind frame = FrameValue::Kind::lane;
};

class Names {
 public:
  Names(ProgramBuilder& builder, const DeclaredFunction& declared, std::size_t index, Function& function);

  void open_scope();
  /// Names of the scope are forgotten, and the local memory of its variables is used again.
  void close_scope();

  void declare_register(const Declared& declared);
  void declare_shared(const Declared& declared);
  void declare_local(const Declared& declared);
  /// A variable of the function in global or constant memory. `variable`: its name in the module.
  void declare_global(const std::string& name, std::string variable);

  /// The registers of a vector; null if the name is not a vector's.
  const std::vector<Slot>* elements_of(const Token& name);

  /// Throws where nothing has this name.
  Named& find(const Token& name);

  /// A slot with the value of the name, or its address, plus `addend`, which a register does not take.
  Slot slot_of(Named& named, const Token& name, std::uint64_t addend = 0);

  Slot fresh(std::uint64_t initial = 0);
  Slot constant(std::uint64_t value);

  /// A slot for results that nothing reads.
  Slot nowhere();

 private:
  using Scope = std::unordered_map<std::string, Named>;

  void declare_formal(const Formal& formal, bool is_kernel, std::vector<Argument>* arguments);
  Named& add(const std::string& name, Named named);
  void declare_vector(const std::string& name, const Declared& declared);
  Named* declared(const std::string& name);
  Named outside_of_function(const Token& name);
  Slot frame_value(FrameValue::Kind kind, std::uint64_t value);

  ProgramBuilder& builder_;
  std::size_t index_;
  Function& function_;
  std::vector<Scope> scopes_;
  std::vector<std::size_t> local_tops_;  ///< where local memory ended when the scopes began
  std::size_t local_top_ = 0;
  std::size_t parameter_top_ = 0;
  Slot nowhere_ = -1;
  bool has_vectors_ = false;
  std::unordered_map<std::uint64_t, Slot> constants_;
  std::map<std::pair<FrameValue::Kind, std::uint64_t>, Slot> frame_values_;
  std::map<std::pair<std::string, std::uint64_t>, Slot> variables_;
};

/// A special register; `Kind::unknown` for other names.
Named special_register(std::string_view name);

}  // namespace opgate::simulator
