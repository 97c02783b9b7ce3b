#include "gate/ledger/ledger_nodes.h"

#include <sstream>

#include "base/errors.h"

namespace opgate {

void LedgerNodes::wrong(const toml::node& node) const {
  throw setup_error("{}:{}: this is no line of a ledger; check out the file, or run `opgate accept` again",
                    file_.string(), static_cast<unsigned>(node.source().begin.line));
}

bool LedgerNodes::flag(const toml::node& node) const {
  if (!node.is_boolean()) wrong(node);
  return *node.value<bool>();
}

std::string LedgerNodes::text(const toml::node& node) const {
  if (!node.is_string()) wrong(node);
  return *node.value<std::string>();
}

std::vector<std::string> LedgerNodes::texts(const toml::node& node) const {
  if (!node.is_array()) wrong(node);
  std::vector<std::string> words;
  for (const toml::node& word : *node.as_array()) words.push_back(text(word));
  return words;
}

std::map<std::string, std::string> LedgerNodes::texts_by_name(const toml::node& node) const {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : table(node)) all[std::string(name.str())] = text(value);
  return all;
}

const toml::table& LedgerNodes::table(const toml::node& node) const {
  if (!node.is_table()) wrong(node);
  return *node.as_table();
}

std::vector<std::string> split_words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace opgate
