// Reads declarations of variables, parameters and registers.
#include <algorithm>
#include <cstring>

#include "ptx/source/declarations.h"

namespace opgate::simulator {
namespace variables {

// What comes before the name: type, vector and alignment.
Declared read_type(Tokens& tokens) {
  Declared declared;
  std::size_t alignment = 0;
  bool is_pointer = false;
  while (tokens.peek().is_directive()) {
    const Token word = tokens.next();
    const std::string_view name = word.text.substr(1);
    if (name == "align") {
      const std::uint64_t value = integer(tokens.next());
      if (value == 0 || (value & (value - 1)) != 0)
        throw ParseError(word.line, "an alignment that is not a power of two");
      // After .ptr it is the alignment of what the parameter points to.
      if (!is_pointer) alignment = value;
    } else if (name == "attribute") {
      tokens.skip_parentheses();
    } else if (name == "ptr") {
      is_pointer = true;
    } else if (name == "v2" || name == "v4" || name == "v8") {
      declared.lanes = static_cast<std::size_t>(name[1] - '0');
    } else if (name == "texref" || name == "samplerref" || name == "surfref") {
      declared.type = Type::u64;
    } else if (const Type type = type_named(name); type != Type::none) {
      declared.type = type;
    } else if (!is_pointer) {
      throw ParseError(word.line, "`" + std::string(word.text) + "` is not known in a declaration");
    }
  }
  if (declared.type == Type::none) throw ParseError(tokens.peek().line, "a declaration without a type");
  declared.bytes = bytes_of(declared.type) * declared.lanes;
  declared.alignment = std::max<std::size_t>({alignment, alignment == 0 ? declared.bytes : 1, 1});
  return declared;
}

// One value of an initializer: a number, or an address as `name`, `name+4` or `generic(name)+4`.
void read_value(Tokens& tokens, Declared& declared, std::size_t element, std::size_t& at) {
  const Token first = tokens.peek();
  const bool negative = tokens.accept("-");
  Token token = tokens.next();
  AddressInVariable address;
  address.generic = token.is("generic") && tokens.accept("(");
  if (address.generic) {
    token = tokens.next();
    tokens.expect(")");
  }
  if (at + element > declared.bytes)
    throw ParseError(first.line, "more values than `" + declared.name + "` has elements");
  if (const auto value = number(token.text)) {
    const std::uint64_t bits = negative ? 0 - *value : *value;
    std::memcpy(declared.initial.data() + at, &bits, std::min<std::size_t>(element, 8));
  } else {
    address.offset = at;
    address.symbol = std::string(token.text);
    if (tokens.accept("+")) address.addend = integer(tokens.next());
    declared.addresses.push_back(std::move(address));
  }
  at += element;
}

void read_initializer(Tokens& tokens, Declared& declared) {
  const std::size_t element = bytes_of(declared.type);
  const unsigned line = tokens.peek().line;
  std::vector<unsigned char>& initial = declared.initial;
  if (!declared.sized) throw ParseError(line, "an initializer of a variable without a size");
  initial.resize(declared.bytes);
  std::size_t at = 0;
  if (!tokens.peek().is("{")) {
    read_value(tokens, declared, element, at);
    return;
  }
  for (int depth = 0;;) {
    if (tokens.peek().at_end()) throw ParseError(line, "`{` without `}`");
    if (tokens.accept("{")) {
      ++depth;
    } else if (tokens.accept("}")) {
      if (--depth == 0) return;
    } else if (!tokens.accept(",")) {
      read_value(tokens, declared, element, at);
    }
  }
}

// The name and what follows it.
void read_name(Tokens& tokens, Declared& declared) {
  const Token name = tokens.next();
  if (name.at_end() || name.is(";") || name.is(",") || name.is(")"))
    throw ParseError(name.line, "a declaration without a name");
  declared.name = std::string(name.text);
  if (tokens.accept("<")) {
    declared.registers = integer(tokens.next());
    tokens.expect(">");
  }
  while (tokens.accept("[")) {
    if (tokens.accept("]")) {
      declared.sized = false;
      declared.bytes = 0;
      continue;
    }
    declared.bytes *= integer(tokens.next());
    tokens.expect("]");
  }
  if (tokens.accept("=")) read_initializer(tokens, declared);
}

}  // namespace variables

Declared read_variable(Tokens& tokens) {
  Declared declared = variables::read_type(tokens);
  variables::read_name(tokens, declared);
  return declared;
}

std::vector<Declared> read_variables(Tokens& tokens) {
  const Declared type = variables::read_type(tokens);
  std::vector<Declared> all;
  do {
    all.push_back(type);
    variables::read_name(tokens, all.back());
  } while (tokens.accept(","));
  tokens.expect(";");
  return all;
}

}  // namespace opgate::simulator
