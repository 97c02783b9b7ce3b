#include "provenance/dependency_rules.h"

#include <algorithm>
#include <utility>

namespace opgate {
namespace {

constexpr std::string_view kNinjaIndent = "    ";
constexpr std::string_view kNinjaCount = ": #deps ";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Reads a Makefile as compilers write it: "\ " is a space in a name, "\#" is #, "$$" is $, and a backslash at
// the end of a line continues it. Any other backslash belongs to the name.
class MakefileReader {
 public:
  explicit MakefileReader(std::string_view text) : text_(text) {}

  std::vector<DependencyRule> read() {
    while (at_ < text_.size()) step();
    end_rule();
    return std::move(rules_);
  }

 private:
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\n'; }

  void step() {
    const char c = text_[at_];
    if (c == '\\' && (next() == '\n' || (next() == '\r' && text_.substr(at_).starts_with("\\\r\n")))) {
      end_word();
      at_ += next() == '\n' ? 2 : 3;
    } else if ((c == '\\' && (next() == ' ' || next() == '#')) || (c == '$' && next() == '$')) {
      word_ += next();
      at_ += 2;
    } else if (c == '\n') {
      end_rule();
      ++at_;
    } else if (is_space(c)) {
      end_word();
      ++at_;
    } else if (c == ':' && !after_colon_ && (is_space(next()) || next() == '\n')) {
      end_word();
      after_colon_ = true;
      ++at_;
    } else {
      word_ += c;
      ++at_;
    }
  }

  void end_word() {
    if (word_.empty()) return;
    if (after_colon_) {
      rule_.files.push_back(std::exchange(word_, {}));
    } else {
      rule_.output = std::exchange(word_, {});
    }
  }

  void end_rule() {
    end_word();
    if (after_colon_ && !rule_.files.empty()) rules_.push_back(rule_);
    rule_ = {};
    after_colon_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool after_colon_ = false;
  DependencyRule rule_;
  std::vector<DependencyRule> rules_;
};

}  // namespace

std::vector<DependencyRule> rules_of_makefile(std::string_view text) { return MakefileReader(text).read(); }

std::vector<DependencyRule> rules_of_ninja(std::string_view text) {
  std::vector<DependencyRule> rules;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kNinjaIndent)) {
      if (!rules.empty()) rules.back().files.emplace_back(line.substr(kNinjaIndent.size()));
    } else if (const auto count = line.rfind(kNinjaCount); count != std::string_view::npos) {
      rules.push_back({std::string(line.substr(0, count)), {}});
    }
  }
  return rules;
}

}  // namespace opgate
