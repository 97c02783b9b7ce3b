#include "base/files/toml_nodes.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace opgate {

toml::table parsed_toml(const std::filesystem::path& file, std::string_view advice) {
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;  // 0 if the file cannot be read
    throw setup_error("{}{}: {}{}", file.string(), line > 0 ? fmt::format(":{}", line) : "",
                      error.description(), advice);
  }
}

std::string TomlNodes::place(const toml::node& node) const {
  return fmt::format("{}:{}", file_.string(), node.source().begin.line);
}

void TomlNodes::wrong(const toml::node& node) const { throw setup_error("{}: {}", place(node), complaint_); }

bool TomlNodes::flag(const toml::node& node) const {
  if (!node.is_boolean()) wrong(node);
  return *node.value<bool>();
}

std::string TomlNodes::text(const toml::node& node) const {
  if (!node.is_string()) wrong(node);
  return *node.value<std::string>();
}

std::vector<std::string> TomlNodes::texts(const toml::node& node) const {
  if (!node.is_array()) wrong(node);
  std::vector<std::string> words;
  for (const toml::node& word : *node.as_array()) words.push_back(text(word));
  return words;
}

std::map<std::string, std::string> TomlNodes::texts_by_name(const toml::node& node) const {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : table(node)) all[std::string(name.str())] = text(value);
  return all;
}

const toml::table& TomlNodes::table(const toml::node& node) const {
  if (!node.is_table()) wrong(node);
  return *node.as_table();
}

}  // namespace opgate
