// PTX as words, numbers and punctuation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace opgate::simulator {

/// PTX that cannot be read. The message begins with the line.
class ParseError : public std::runtime_error {
 public:
  ParseError(unsigned line, const std::string& what);
};

struct Token {
  std::string_view text;  ///< empty at the end
  unsigned line = 0;
  unsigned inline_asm =
      0;  ///< the number of the piece of inline assembly that it is in, as LLVM marks them; 0: none

  bool is(std::string_view what) const { return text == what; }
  bool at_end() const { return text.empty(); }
  bool is_directive() const { return !text.empty() && text.front() == '.'; }
};

/// A piece of PTX that is read later.
struct Passage {
  std::string_view text;
  unsigned line = 1;
};

/// Reads tokens one by one. A word includes dots, `::` and `%`: an opcode with its modifiers is one token, as
/// is the name of a special register.
class Tokens {
 public:
  explicit Tokens(Passage passage);

  const Token& peek() const { return current_; }
  Token next();

  /// Consumes the token if it is this one.
  bool accept(std::string_view text);

  /// Throws where the token is another one.
  void expect(std::string_view text);

  /// To be called at a `(`: consumes everything up to its `)`.
  void skip_parentheses();

  /// To be called at a `{`: what lies between it and its `}`, which is consumed. `see` is called with each
  /// directive on the way, and may read what follows it.
  Passage skip_braces(const std::function<void(const Token&)>& see = nullptr);

 private:
  Token scan();
  Token token(std::string_view text) const { return {text, line_, in_inline_asm_ ? inline_asms_ : 0}; }
  void skip_blanks();
  void read_comment();

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  unsigned inline_asms_ = 0;
  bool in_inline_asm_ = false;
  Token current_;
};

/// An integer of PTX (decimal, 0x, 0b, octal, with or without U), or the bits of a number in the notation 0f
/// or 0d. Without a value where the text is not a number.
std::optional<std::uint64_t> number(std::string_view text);

/// The integer, or an exception with the line.
std::uint64_t integer(const Token& token);

}  // namespace opgate::simulator
