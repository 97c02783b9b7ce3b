#include "ptx/source/labels.h"

#include <utility>

namespace opgate::simulator {

void Labels::close_scope(unsigned line) {
  if (scopes_.size() == 1) throw ParseError(line, "`}` without `{`");
  resolve();
  const std::vector<Use> outwards = std::move(scopes_.back().uses);
  scopes_.pop_back();
  scopes_.back().uses.insert(scopes_.back().uses.end(), outwards.begin(), outwards.end());
}

void Labels::finish(unsigned line) {
  if (scopes_.size() != 1) throw ParseError(line, "`{` without `}`");
  resolve();
  if (scopes_.back().uses.empty()) return;
  const Token& label = scopes_.back().uses.front().label;
  throw ParseError(label.line, "the label `" + std::string(label.text) + "` does not exist");
}

void Labels::place(const Token& label) {
  scopes_.back().places[std::string(label.text)] = function_.code.size();
  latest_ = label;
}

void Labels::add_branch(const Token& label) { scopes_.back().uses.push_back({label, function_.code.size()}); }

std::size_t Labels::table(const std::string& name) {
  const auto [known, is_new] = tables_.try_emplace(name, function_.branch_tables.size());
  if (is_new) function_.branch_tables.emplace_back();
  return known->second;
}

void Labels::add_target(std::size_t table, const Token& label) {
  scopes_.back().uses.push_back({label, table, true, function_.branch_tables[table].size()});
  function_.branch_tables[table].push_back(0);
}

// What remains may be labels of an outer scope.
void Labels::resolve() {
  Scope& scope = scopes_.back();
  std::vector<Use> unknown;
  for (const Use& use : scope.uses) {
    const auto place = scope.places.find(std::string(use.label.text));
    if (place == scope.places.end()) {
      unknown.push_back(use);
    } else if (use.in_table) {
      function_.branch_tables[use.at][use.entry] = static_cast<std::int64_t>(place->second);
    } else {
      function_.code[use.at].immediate = static_cast<std::int64_t>(place->second);
    }
  }
  scope.uses = std::move(unknown);
}

}  // namespace opgate::simulator
