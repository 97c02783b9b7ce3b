// What -k selects: an expression of words, as pytest takes it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace opgate {

/// "relu and not (value or grad)": each word is looked for anywhere in a case id, whatever its case.
class Keywords {
 public:
  /// Throws SetupError that says what is wrong with the expression. An empty one matches every case.
  explicit Keywords(const std::string& expression);
  ~Keywords();

  bool matches(std::string_view case_id) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
  friend class KeywordParser;
};

}  // namespace opgate
