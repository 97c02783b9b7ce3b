// The values of a TOML file, by type. A value of another type is an error with file and line.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace opgate {

/// Parses the file. Throws SetupError, with file and line, for text that is not TOML; `advice` is the end of
/// its message.
toml::table parsed_toml(const std::filesystem::path& file, std::string_view advice = "");

class TomlNodes {
 public:
  /// `complaint` is what the error says of a wrong value: "this is no line of a ledger".
  TomlNodes(std::filesystem::path file, std::string complaint)
      : file_(std::move(file)), complaint_(std::move(complaint)) {}

  const std::filesystem::path& file() const { return file_; }
  /// "opgate.toml:3"
  std::string place(const toml::node& node) const;
  /// Throws the SetupError for a wrong value.
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

 private:
  std::filesystem::path file_;
  std::string complaint_;
};

}  // namespace opgate
