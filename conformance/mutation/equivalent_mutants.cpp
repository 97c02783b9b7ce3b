#include "mutation/equivalent_mutants.h"

#include "base/errors.h"
#include "base/files/toml_nodes.h"

namespace opgate {
EquivalentMutants::EquivalentMutants(const std::filesystem::path& file) {
  if (file.empty()) return;
  const toml::table table = parsed_toml(file);
  const toml::array* entries = table["equivalent"].as_array();
  if (entries == nullptr) {
    throw setup_error("{}: there is no table [[equivalent]]", file.string());
  }
  for (const toml::node& node : *entries) {
    const toml::table* entry = node.as_table();
    const auto word = [&](std::string_view key) {
      const auto value = entry == nullptr ? std::nullopt : (*entry)[key].value<std::string>();
      if (!value) {
        throw setup_error("{}:{}: an equivalent mutant needs the text `{}`", file.string(),
                          node.source().begin.line, key);
      }
      // Sources are wrapped in other places than this file.
      return in_one_line(*value);
    };
    reasons_[{word("file"), word("function"), word("original"), word("mutated")}] = word("because");
  }
}

std::optional<std::string> EquivalentMutants::why(const Mutant& mutant) const {
  const auto found = reasons_.find(
      {mutant.file, mutant.function, in_one_line(mutant.original), in_one_line(mutant.mutated)});
  return found == reasons_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace opgate
