#include "plan/keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace opgate {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::vector<std::string> tokens_of(const std::string& expression) {
  std::vector<std::string> tokens;
  bool in_word = false;
  for (const char c : expression) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (is_space || c == '(' || c == ')') {
      if (!is_space) tokens.emplace_back(1, c);
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) tokens.emplace_back();
    tokens.back() += c;
  }
  return tokens;
}

}  // namespace

struct Keywords::Node {
  enum class Kind { word, negation, conjunction, disjunction } kind;
  std::string word;
  std::unique_ptr<Node> left, right;

  bool matches(const std::string& id) const {
    switch (kind) {
      case Kind::word:
        return id.find(word) != std::string::npos;
      case Kind::negation:
        return !left->matches(id);
      case Kind::conjunction:
        return left->matches(id) && right->matches(id);
      case Kind::disjunction:
        return left->matches(id) || right->matches(id);
    }
    return false;
  }
};

class KeywordParser {
 public:
  using Node = Keywords::Node;
  using Kind = Node::Kind;

  explicit KeywordParser(const std::string& expression)
      : expression_(expression), tokens_(tokens_of(expression)) {}

  std::unique_ptr<Node> parse() {
    std::unique_ptr<Node> whole = disjunction();
    if (at_ < tokens_.size()) wrong(fmt::format("'{}' is not expected", tokens_[at_]));
    return whole;
  }

 private:
  std::unique_ptr<Node> disjunction() {
    std::unique_ptr<Node> left = conjunction();
    while (take("or")) left = joined(Kind::disjunction, std::move(left), conjunction());
    return left;
  }

  std::unique_ptr<Node> conjunction() {
    std::unique_ptr<Node> left = negation();
    while (take("and")) left = joined(Kind::conjunction, std::move(left), negation());
    return left;
  }

  std::unique_ptr<Node> negation() {
    if (take("not")) return joined(Kind::negation, negation(), nullptr);
    if (take("(")) {
      std::unique_ptr<Node> inner = disjunction();
      if (!take(")")) wrong("a ')' is missing");
      return inner;
    }
    if (at_ == tokens_.size()) wrong("a word is missing at its end");
    const std::string word = tokens_[at_++];
    if (word == ")" || word == "and" || word == "or")
      wrong(fmt::format("a word is missing before '{}'", word));
    return std::make_unique<Node>(Node{Kind::word, in_lower_case(word), nullptr, nullptr});
  }

  static std::unique_ptr<Node> joined(Kind kind, std::unique_ptr<Node> left, std::unique_ptr<Node> right) {
    return std::make_unique<Node>(Node{kind, "", std::move(left), std::move(right)});
  }

  bool take(std::string_view token) {
    if (at_ == tokens_.size() || tokens_[at_] != token) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void wrong(const std::string& what) const {
    throw setup_error(
        "-k '{}': {}; write words of case ids with and, or, not and parentheses, such as "
        "\"relu and not value\"",
        expression_, what);
  }

  const std::string expression_;
  const std::vector<std::string> tokens_;
  size_t at_ = 0;
};

Keywords::Keywords(const std::string& expression)
    : root_(expression.empty() ? nullptr : KeywordParser(expression).parse()) {}

Keywords::~Keywords() = default;

bool Keywords::matches(std::string_view case_id) const {
  return root_ == nullptr || root_->matches(in_lower_case(case_id));
}

}  // namespace opgate
