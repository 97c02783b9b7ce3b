#include "ptx/body.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ptx/names.h"
#include "ptx/operands.h"
#include "ptx/source/labels.h"
#include "ptx/source/source_places.h"

namespace opgate::simulator {
namespace body {

class Reader {
 public:
  Reader(ProgramBuilder& builder, const DeclaredFunction& declared, std::size_t index, Function& function)
      : builder_(builder),
        instructions_(builder.instructions()),
        declared_(declared),
        index_(index),
        function_(function),
        names_(builder, declared, index, function),
        tokens_(declared.body),
        labels_(function),
        places_(builder.declarations().files) {}

  void read() {
    while (!tokens_.peek().at_end()) read_statement();
    labels_.finish(tokens_.peek().line);
    // A body may end without `ret`.
    const Token end{"ret", tokens_.peek().line};
    form_ = {};
    emit(decode(end, {}, 0), end);
    find_turn_ends();
    function_.nowhere = names_.nowhere();
    instructions_.settle(function_);
  }

 private:
  void find_turn_ends() {
    std::vector<bool>& ends = function_.turn_ends;
    ends.resize(function_.code.size() + 1);
    ends[0] = true;
    for (const std::size_t call : calls_) ends[call + 1] = true;
    for (const std::size_t branch : branches_) {
      const auto target = static_cast<std::size_t>(function_.code[branch].immediate);
      if (target <= branch) ends[target] = true;
    }
    for (const std::vector<std::int64_t>& table : function_.branch_tables) {
      for (const std::int64_t target : table) ends[static_cast<std::size_t>(target)] = true;
    }
  }

  void read_statement() {
    const Token first = tokens_.next();
    if (first.is(";")) return;
    if (first.is("{")) {
      names_.open_scope();
      labels_.open_scope();
    } else if (first.is("}")) {
      labels_.close_scope(first.line);
      names_.close_scope();
    } else if (first.is_directive()) {
      read_directive(first);
    } else if (!first.is("@") && tokens_.accept(":")) {
      labels_.place(first);
    } else {
      read_instruction(first);
    }
  }

  void read_directive(const Token& directive) {
    if (directive.is(".reg")) {
      for (const Declared& declared : read_variables(tokens_)) names_.declare_register(declared);
    } else if (directive.is(".local") || directive.is(".param")) {
      for (const Declared& declared : read_variables(tokens_)) {
        names_.declare_local(declared);
        if (directive.is(".local")) builder_.count_local(index_, declared.bytes);
      }
    } else if (directive.is(".shared")) {
      for (const Declared& declared : read_variables(tokens_)) names_.declare_shared(declared);
    } else if (directive.is(".global") || directive.is(".const")) {
      for (const Declared& declared : read_variables(tokens_))
        names_.declare_global(declared.name, name_in_module(declared_.name, directive.line, declared.name));
    } else if (directive.is(".loc")) {
      read_location(directive.inline_asm);
    } else if (directive.is(".branchtargets")) {
      read_branch_targets();
    } else if (directive.is(".pragma") || directive.is(".callprototype") || directive.is(".calltargets")) {
      while (!tokens_.accept(";")) {
        if (tokens_.next().at_end())
          throw ParseError(directive.line, "`" + std::string(directive.text) + "` without `;`");
      }
    } else {
      throw ParseError(directive.line, "`" + std::string(directive.text) + "` is not known in a function");
    }
  }

  // .loc 1 23 5, function_name $L__info_string0, inlined_at 1 50 3 LLVM gives each line of inline assembly
  // the line after that of the one before: only the first is that of the source.
  void read_location(unsigned inline_asm) {
    const bool counts = inline_asm == 0 || inline_asm != located_asm_;
    located_asm_ = inline_asm;
    const SourcePlace place = read_place();
    std::optional<SourcePlace> caller;
    while (tokens_.accept(",")) {
      if (tokens_.accept("inlined_at")) {
        caller = read_place();
      } else {
        tokens_.next();
        tokens_.next();
        if (tokens_.accept("+")) tokens_.next();
      }
    }
    places_.add(place, caller);
    if (!counts) return;
    const SourcePlace shown = places_.innermost_of_author(place);
    location_ = builder_.location(shown.file, shown.line);
  }

  SourcePlace read_place() {
    const std::uint64_t file = integer(tokens_.next());
    const std::uint64_t line = integer(tokens_.next());
    return {file, line, integer(tokens_.next())};
  }

  void read_branch_targets() {
    const std::size_t table = labels_.table(std::string(labels_.latest().text));
    do labels_.add_target(table, tokens_.next());
    while (tokens_.accept(","));
    tokens_.expect(";");
  }

  Statement read_to_semicolon(const Token& first) {
    Statement statement{first};
    while (!tokens_.accept(";")) {
      if (tokens_.peek().at_end())
        throw ParseError(first.line, "`" + std::string(first.text) + "` without `;`");
      statement.push_back(tokens_.next());
    }
    return statement;
  }

  void read_instruction(const Token& first) {
    const Statement statement = read_to_semicolon(first);
    std::size_t at = 0;
    const std::int32_t guard = read_guard(statement, at);
    if (at >= statement.size()) throw ParseError(first.line, "an instruction is missing");
    const Token& opcode = statement[at];
    const std::string name(opcode.text.substr(0, opcode.text.find('.')));
    Instruction instruction;
    form_ = not_simulated();
    if (name == "call") {
      instruction = decode_call(statement, at + 1);
      calls_.push_back(function_.code.size());
    } else if (name == "brx") {
      instruction = decode_branch_by_table(statement, at + 1);
    } else {
      instruction = decode(opcode, statement, at + 1);
      if (name == "bra") {
        labels_.add_branch(statement.back());
        branches_.push_back(function_.code.size());
      }
    }
    instruction.guard = guard;
    emit(instruction, opcode);
  }

  std::int32_t read_guard(const Statement& statement, std::size_t& at) {
    if (!statement.front().is("@")) return -1;
    ++at;
    const bool negated = at < statement.size() && statement[at].is("!");
    if (negated) ++at;
    if (at >= statement.size()) throw ParseError(statement.front().line, "`@` without a predicate");
    const Token& predicate = statement[at++];
    return names_.slot_of(names_.find(predicate), predicate) * 2 + (negated ? 1 : 0);
  }

  // An instruction that is not simulated is decoded to one that says so when it is executed.
  Instruction decode(const Token& opcode, const Statement& statement, std::size_t operands) {
    Draft draft{Modifiers(opcode.text), {}, {}, declared_.is_kernel, 0};
    draft.instruction.execute = instructions_.unsupported;
    const Opcode* const known = instructions_.opcode_of(draft.modifiers);
    if (known == nullptr) return draft.instruction;
    if (known->most != kNotRead) {
      std::vector<Instruction> before;
      draft.operands =
          OperandReader(instructions_, names_, statement, operands, opcode.text, before).read_all();
      form_ = computes_operand();
      for (const Instruction& instruction : before) emit(instruction, opcode);
      form_ = not_simulated();
      check_count(opcode, *known, draft.operands.size());
      draft.nowhere = names_.nowhere();
    }
    const Handler handler = known->select(draft);
    if (handler == nullptr || !draft.modifiers.none_left() || draft.has_parts()) return draft.instruction;
    put_operands(draft);
    form_.reads_immediate = draft.immediate_is_slot;
    describe(form_, *known, opcode.text, draft.instruction.site != 0);
    draft.instruction.execute = handler;
    return draft.instruction;
  }

  static OperandForm computes_operand() {
    OperandForm form;
    form.first = form.results = 1;
    form.total = 2;
    return form;
  }

  static OperandForm not_simulated() {
    OperandForm form;
    form.flow.matters = true;
    return form;
  }

  static void check_count(const Token& opcode, const Opcode& known, std::size_t count) {
    if (count >= known.least && count <= known.most) return;
    const std::string wanted =
        std::to_string(known.least) + (known.most == known.least ? "" : " to " + std::to_string(known.most));
    throw ParseError(opcode.line, "`" + std::string(opcode.text) + "` takes " + wanted + " operands, not " +
                                      std::to_string(count));
  }

  // The offset of the first address is the immediate, as a rule; after each further one follows a slot with
  // its offset.
  void put_operands(Draft& draft) {
    std::vector<Slot> slots;
    if (!draft.operands.empty()) form_.first = static_cast<std::uint8_t>(draft.operands.front().slots.size());
    for (const Operand& operand : draft.operands) {
      slots.insert(slots.end(), operand.slots.begin(), operand.slots.end());
      if (operand.kind != Operand::Kind::address) continue;
      const bool is_first = draft.instruction.site == 0;
      if (!is_first || draft.keeps_immediate) {
        slots.push_back(names_.constant(static_cast<std::uint64_t>(operand.offset)));
      } else {
        draft.instruction.immediate = operand.offset;
      }
      if (!is_first) continue;
      draft.instruction.site = builder_.next_site();
      form_.names_local = operand.names_local;
    }
    form_.total = static_cast<std::uint8_t>(slots.size());
    if (slots.size() > kMostOperands) {
      draft.instruction.wide = function_.wide_slots.emplace_back(std::move(slots)).data();
    } else {
      std::copy(slots.begin(), slots.end(), draft.instruction.slots.begin());
    }
  }

  void emit(Instruction instruction, const Token& opcode) {
    if (instruction.text == nullptr) instruction.text = builder_.text(opcode.text);
    instruction.line = opcode.line;
    instruction.location = location_;
    function_.code.push_back(instruction);
    function_.forms.push_back(form_);
  }

  Instruction decode_branch_by_table(const Statement& statement, std::size_t at) {
    if (at + 2 >= statement.size() || !statement[at + 1].is(","))
      throw ParseError(statement.front().line, "`brx.idx` takes an index and the name of a list of targets");
    Instruction instruction;
    instruction.execute = instructions_.branch_table;
    instruction.slots[0] = names_.slot_of(names_.find(statement[at]), statement[at]);
    form_.total = 1;
    instruction.immediate = static_cast<std::int64_t>(labels_.table(std::string(statement[at + 2].text)));
    return instruction;
  }

  // What is between parentheses.
  std::vector<Argument> read_arguments(const Statement& statement, std::size_t& at) {
    std::vector<Argument> arguments;
    const unsigned line = statement.front().line;
    for (++at; at < statement.size() && !statement[at].is(")"); ++at) {
      const Token& token = statement[at];
      if (token.is(",")) continue;
      if (const auto value = number(token.text)) {
        arguments.push_back({true, names_.constant(*value), 0, 8});
        continue;
      }
      Named& named = names_.find(token);
      if (named.kind == Named::Kind::vector) {
        for (const Slot element : named.elements) arguments.push_back({true, element, 0, 8});
        continue;
      }
      const bool in_memory = named.kind == Named::Kind::local;
      arguments.push_back(
          {!in_memory, in_memory ? 0 : names_.slot_of(named, token), named.value, named.bytes});
    }
    if (at >= statement.size()) throw ParseError(line, "`(` without `)`");
    ++at;
    return arguments;
  }

  // call (result), function, (arguments), prototype
  Instruction decode_call(const Statement& statement, std::size_t at) {
    const Token opcode = statement[at - 1];
    Call call;
    const auto skip_comma = [&] {
      if (at < statement.size() && statement[at].is(",")) ++at;
    };
    if (at < statement.size() && statement[at].is("(")) {
      call.results = read_arguments(statement, at);
      skip_comma();
    }
    if (at >= statement.size()) throw ParseError(statement.front().line, "a call without a function");
    const Token callee = statement[at++];
    skip_comma();
    if (at < statement.size() && statement[at].is("(")) call.arguments = read_arguments(statement, at);
    Instruction instruction;
    const bool launches = launches_kernels(callee.text);
    instruction.text = builder_.text(std::string(opcode.text) + " " + std::string(callee.text) +
                                     (launches ? " (a kernel that launches a kernel)" : ""));
    instruction.execute = choose_call(callee, call);
    form_.effect = effect_of_call(instruction.execute);
    instruction.immediate = static_cast<std::int64_t>(function_.calls.size());
    function_.calls.push_back(std::move(call));
    return instruction;
  }

  Effect effect_of_call(Handler execute) const {
    if (execute == instructions_.call) return {.kind = Effect::Kind::call};
    const bool is_of_host = execute == instructions_.print || execute == instructions_.allocate ||
                            execute == instructions_.release || execute == instructions_.set_condition;
    if (is_of_host) return {.kind = Effect::Kind::host_call, .makes_visible = true};
    return {};
  }

  // Functions of dynamic parallelism, as nvcc 12 and later and older ones call them.
  static bool launches_kernels(std::string_view callee) {
    return callee.starts_with("__cudaCDP2") || callee.starts_with("cudaLaunchDevice") ||
           callee.starts_with("cudaGetParameterBuffer");
  }

  Handler choose_call(const Token& callee, Call& call) {
    const std::string name(callee.text);
    if (name == "__assertfail") return instructions_.assertion;
    if (name == "vprintf") return instructions_.print;
    call.callee = builder_.function_index(name);
    if (call.callee >= 0) return instructions_.call;
    if (name == "malloc") return instructions_.allocate;
    if (name == "free") return instructions_.release;
    if (name == "cudaGraphSetConditional") return instructions_.set_condition;
    if (builder_.declarations().function(name) != nullptr) return instructions_.unsupported;
    call.address = names_.slot_of(names_.find(callee), callee);
    builder_.add_functions_in_variables();
    return instructions_.call;
  }

  ProgramBuilder& builder_;
  const InstructionSet& instructions_;
  const DeclaredFunction& declared_;
  std::size_t index_;
  Function& function_;
  Names names_;
  Tokens tokens_;
  Labels labels_;
  std::vector<std::size_t> branches_;
  std::vector<std::size_t> calls_;
  SourcePlaces places_;
  std::uint32_t location_ = 0;
  unsigned located_asm_ = 0;  // the last piece of inline assembly that had a location
  OperandForm form_;          ///< of the instruction that is emitted next
};

}  // namespace body

void read_body(ProgramBuilder& builder, const DeclaredFunction& declared, std::size_t index,
               Function& function) {
  body::Reader(builder, declared, index, function).read();
}

}  // namespace opgate::simulator
