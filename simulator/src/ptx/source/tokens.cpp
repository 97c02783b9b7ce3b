#include "ptx/source/tokens.h"

#include <algorithm>
#include <charconv>

namespace opgate::simulator {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

}  // namespace

ParseError::ParseError(unsigned line, const std::string& what)
    : std::runtime_error("line " + std::to_string(line) + " of the PTX: " + what) {}

Tokens::Tokens(Passage passage) : text_(passage.text), line_(passage.line) { current_ = scan(); }

Token Tokens::next() {
  const Token token = current_;
  current_ = scan();
  return token;
}

bool Tokens::accept(std::string_view text) {
  if (!current_.is(text)) return false;
  next();
  return true;
}

void Tokens::expect(std::string_view text) {
  if (accept(text)) return;
  const std::string found = current_.at_end() ? "the end" : "`" + std::string(current_.text) + "`";
  throw ParseError(current_.line, "expected `" + std::string(text) + "`, but found " + found);
}

void Tokens::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      read_comment();
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw ParseError(line_, "a comment without an end");
      for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
    } else {
      return;
    }
  }
}

// The compilers mark inline assembly by comments.
void Tokens::read_comment() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view comment = text_.substr(at_, end - at_);
  at_ = end;
  if (comment == "// begin inline asm") {
    in_inline_asm_ = true;
    ++inline_asms_;
  } else if (comment == "// end inline asm") {
    in_inline_asm_ = false;
  }
}

Token Tokens::scan() {
  skip_blanks();
  if (at_ >= text_.size()) return token({});
  const std::size_t begin = at_;
  if (text_[at_] == '"') {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw ParseError(line_, "a string without an end");
    at_ = end + 1;
  } else if (is_word(text_[at_])) {
    // Directives need no blank between them: ".reg.b16". An opcode keeps its modifiers.
    const bool is_directive = text_[begin] == '.';
    while (at_ < text_.size()) {
      if (is_directive && at_ != begin && text_[at_] == '.') break;
      if (is_word(text_[at_])) {
        ++at_;
      } else if (text_.compare(at_, 2, "::") == 0) {
        at_ += 2;
      } else {
        break;
      }
    }
  } else {
    ++at_;
  }
  return token(text_.substr(begin, at_ - begin));
}

void Tokens::skip_parentheses() {
  const unsigned first = current_.line;
  expect("(");
  for (int depth = 1; depth != 0;) {
    const Token token = next();
    if (token.at_end()) throw ParseError(first, "`(` without `)`");
    if (token.is("(")) ++depth;
    if (token.is(")")) --depth;
  }
}

Passage Tokens::skip_braces(const std::function<void(const Token&)>& see) {
  const unsigned first = current_.line;
  // The text after the brace has not been scanned yet, because the brace is the current token.
  const std::size_t begin = at_;
  const unsigned line = line_;
  expect("{");
  for (int depth = 1;;) {
    if (current_.at_end()) throw ParseError(first, "`{` without `}`");
    if (current_.is("{")) ++depth;
    if (current_.is("}") && --depth == 0) break;
    const Token token = next();
    if (see != nullptr && token.is_directive()) see(token);
  }
  const std::size_t end = static_cast<std::size_t>(current_.text.data() - text_.data());
  next();
  return {text_.substr(begin, end - begin), line};
}

std::optional<std::uint64_t> number(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  int base = 10;
  std::string_view digits = text;
  const char kind = text.size() > 2 && text[0] == '0' ? text[1] : '\0';
  if (((kind == 'f' || kind == 'F') && text.size() == 10) ||
      ((kind == 'd' || kind == 'D') && text.size() == 18) || kind == 'x' || kind == 'X') {
    base = 16;
    digits.remove_prefix(2);
  } else if (kind == 'b' || kind == 'B') {
    base = 2;
    digits.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  if (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::uint64_t integer(const Token& token) {
  const std::optional<std::uint64_t> value = number(token.text);
  if (!value) throw ParseError(token.line, "`" + std::string(token.text) + "` is not a number");
  return *value;
}

}  // namespace opgate::simulator
