// The values of one file of the ledger, by type. A value of another type is an error with file and line.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "gate/planned_cases.h"

namespace opgate {

class LedgerNodes {
 public:
  explicit LedgerNodes(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& file() const { return file_; }
  /// Throws the SetupError for a line that no ledger has.
  [[noreturn]] void wrong(const toml::node& node) const;

  bool flag(const toml::node& node) const;
  std::string text(const toml::node& node) const;
  std::vector<std::string> texts(const toml::node& node) const;
  std::map<std::string, std::string> texts_by_name(const toml::node& node) const;
  const toml::table& table(const toml::node& node) const;

  /// A text, a count or a number.
  template <class Value>
  Value value(const toml::node& node) const {
    if constexpr (std::is_same_v<Value, std::string>) {
      return text(node);
    } else {
      using Read = std::conditional_t<std::is_integral_v<Value>, int64_t, double>;
      const auto found = node.value<Read>();
      if (!found || node.is_boolean()) wrong(node);
      return static_cast<Value>(*found);
    }
  }

  /// A table of tables, the inner ones by dtype (or by another word).
  template <class Value>
  std::map<std::string, ByDtype<Value>> by_dtype(const toml::node& node) const {
    std::map<std::string, ByDtype<Value>> all;
    for (const auto& [key, values] : table(node)) {
      for (const auto& [dtype, one] : table(values))
        all[std::string(key.str())][std::string(dtype.str())] = value<Value>(one);
    }
    return all;
  }

 private:
  std::filesystem::path file_;
};

/// The words of a text that are separated by spaces: "float32 float64".
std::vector<std::string> split_words(std::string_view text);

}  // namespace opgate
