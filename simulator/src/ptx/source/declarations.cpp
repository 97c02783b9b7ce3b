#include "ptx/source/declarations.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>

namespace opgate::simulator {
namespace declarations {

class Reader {
 public:
  explicit Reader(const std::string& ptx) : tokens_(Passage{ptx, 1}) {}

  Declarations read() {
    while (!tokens_.peek().at_end()) read_statement();
    put_addresses_of_functions();
    return std::move(result_);
  }

 private:
  // Those of other variables are known only when the module is placed in memory.
  void put_addresses_of_functions() {
    for (Declared& variable : result_.variables) {
      for (const AddressInVariable& place : variable.addresses) {
        const DeclaredFunction* const function = result_.function(place.symbol);
        if (function == nullptr || place.offset + sizeof(std::uint64_t) > variable.initial.size()) continue;
        const std::uint64_t address = result_.address_of(*function);
        std::memcpy(variable.initial.data() + place.offset, &address, sizeof(address));
      }
    }
  }

  void read_statement() {
    const Token word = tokens_.next();
    if (word.is(";") || word.is(".visible") || word.is(".extern") || word.is(".weak") || word.is(".common"))
      return;
    if (word.is(".version") || word.is(".address_size")) {
      tokens_.next();
    } else if (word.is(".target")) {
      do read_target(tokens_.next().text);
      while (tokens_.accept(","));
    } else if (word.is(".file")) {
      read_file();
    } else if (word.is(".section")) {
      tokens_.next();
      tokens_.skip_braces();
    } else if (word.is(".pragma")) {
      tokens_.next();
      tokens_.expect(";");
    } else if (word.is(".alias")) {
      const std::string alias(tokens_.next().text);
      tokens_.expect(",");
      result_.aliases[alias] = std::string(tokens_.next().text);
      tokens_.expect(";");
    } else if (word.is(".global") || word.is(".const")) {
      for (Declared& variable : read_variables(tokens_)) add_variable(std::move(variable), word.is(".const"));
    } else if (word.is(".shared")) {
      for (Declared& variable : read_variables(tokens_)) result_.shared[variable.name] = std::move(variable);
    } else if (word.is(".entry") || word.is(".func")) {
      read_function(word);
    } else {
      throw ParseError(word.line, "`" + std::string(word.text) + "` is not known outside of functions");
    }
  }

  // sm_90, sm_90a, or an option such as `debug`
  void read_target(std::string_view word) {
    constexpr std::string_view kPrefix = "sm_";
    if (word.starts_with(kPrefix))
      std::from_chars(word.data() + kPrefix.size(), word.data() + word.size(), result_.target);
  }

  // .file 1 "name", and perhaps the time and the size of the file
  void read_file() {
    const std::uint64_t index = integer(tokens_.next());
    const std::string_view name = tokens_.next().text;
    if (name.size() >= 2) result_.files[index] = std::string(name.substr(1, name.size() - 2));
    while (tokens_.accept(",")) tokens_.next();
  }

  // A variable may be declared as `.extern` first and defined later.
  void add_variable(Declared variable, bool constant) {
    for (Declared& known : result_.variables) {
      if (known.name != variable.name) continue;
      if (variable.bytes >= known.bytes) known = std::move(variable);
      return;
    }
    result_.variables.push_back(std::move(variable));
    result_.is_constant.push_back(constant);
  }

  std::vector<Formal> read_formals() {
    std::vector<Formal> formals;
    tokens_.expect("(");
    while (!tokens_.accept(")")) {
      const bool in_register = tokens_.accept(".reg");
      if (!in_register) tokens_.expect(".param");
      formals.push_back({read_variable(tokens_), in_register});
      if (!tokens_.peek().is(")")) tokens_.expect(",");
    }
    return formals;
  }

  // The product of up to three numbers.
  Extent read_extent() {
    std::vector<unsigned> sizes;
    do sizes.push_back(static_cast<unsigned>(integer(tokens_.next())));
    while (tokens_.accept(","));
    sizes.resize(3, 1);
    return {sizes[0], sizes[1], sizes[2]};
  }

  void read_function(const Token& kind) {
    DeclaredFunction function;
    function.is_kernel = kind.is(".entry");
    function.line = kind.line;
    while (tokens_.accept(".attribute")) tokens_.skip_parentheses();
    if (tokens_.peek().is("(")) function.results = read_formals();
    const Token name = tokens_.next();
    function.name = std::string(name.text);
    if (tokens_.peek().is("(")) function.parameters = read_formals();
    read_limits(function);
    if (!tokens_.accept(";")) {
      function.body = tokens_.skip_braces([&](const Token& directive) {
        if (directive.is(".global") || directive.is(".const")) read_variables_of(function.name, directive);
      });
      function.has_body = true;
    }
    if (function.is_kernel &&
        std::find(result_.kernels.begin(), result_.kernels.end(), function.name) == result_.kernels.end())
      result_.kernels.push_back(function.name);
    DeclaredFunction& known = result_.functions[function.name];
    if (function.has_body || !known.has_body) known = std::move(function);
  }

  // They lie in memory before the body is needed.
  void read_variables_of(const std::string& function, const Token& directive) {
    for (Declared& variable : read_variables(tokens_)) {
      variable.name = name_in_module(function, directive.line, variable.name);
      add_variable(std::move(variable), directive.is(".const"));
    }
  }

  // Directives between the parameters and the body. Those that only guide the compiler have no effect.
  void read_limits(DeclaredFunction& function) {
    while (tokens_.peek().is_directive()) {
      const Token word = tokens_.next();
      if (word.is(".maxntid") || word.is(".reqntid")) {
        const Extent threads = read_extent();
        function.max_threads = threads.x * threads.y * threads.z;
      } else if (word.is(".reqnctapercluster")) {
        function.cluster = read_extent();
      } else if (word.is(".pragma")) {
        tokens_.next();
        tokens_.expect(";");
      } else if (number(tokens_.peek().text)) {
        read_extent();
      }
    }
  }

  Tokens tokens_;
  Declarations result_;
};

}  // namespace declarations

const Declared* Declarations::variable(const std::string& name) const {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const Declared& variable) { return variable.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

const DeclaredFunction* Declarations::function(const std::string& name) const {
  const auto alias = aliases.find(name);
  const auto found = functions.find(alias == aliases.end() ? name : alias->second);
  return found == functions.end() ? nullptr : &found->second;
}

std::uint64_t Declarations::address_of(const DeclaredFunction& function) const {
  const auto index = std::distance(functions.begin(), functions.find(function.name));
  return kFunctionWindow + static_cast<std::uint64_t>(index) * kFunctionStep;
}

std::string name_in_module(const std::string& function, unsigned line, const std::string& variable) {
  return function + ":" + std::to_string(line) + ":" + variable;
}

Declarations read_declarations(const std::string& ptx) { return declarations::Reader(ptx).read(); }

}  // namespace opgate::simulator
