#include "cli/results/mutation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/text.h"
#include "cli/terminal/terminal.h"
#include "plan/case_parts.h"

namespace opgate {
namespace {

void print_mutant(const MutantResult& result) {
  const Mutant& mutant = result.mutant;
  fmt::print("  {}:{}:{}  {} in {}{}\n", mutant.file, mutant.line, mutant.column, mutant.kind,
             mutant.function,
             result.fate == Fate::survived
                 ? fmt::format(" ({} judged, of {} that reach it)", counted(result.cases, "case"),
                               counted(result.reaching, "call"))
                 : "");
  fmt::print("    {}\n", coloured(Colour::red, "- " + shown_source(mutant.original)));
  fmt::print("    {}\n", coloured(Colour::green, "+ " + shown_source(mutant.mutated)));
  if (result.fate == Fate::survived && !result.killer.empty()) {
    fmt::print("    {} would notice it (--slow): {}\n", parts_of_case(result.killer).check,
               in_one_line(result.found));
  }
}

void print_all(const std::vector<MutantResult>& results, Fate fate, std::string_view title) {
  if (std::ranges::none_of(results, [&](const MutantResult& each) { return each.fate == fate; })) return;
  fmt::print("\n{}\n", coloured(Colour::bold, title));
  for (const MutantResult& result : results) {
    if (result.fate == fate) print_mutant(result);
  }
}

void print_table(const std::map<std::string, MutationScore>& scores, std::string_view title) {
  size_t width = title.size();
  for (const auto& [name, score] : scores) width = std::max(width, name.size());
  fmt::print("\n{:{}}  {:>6} {:>8} {:>11} {:>10} {:>7}\n", title, width, "killed", "survived", "not reached",
             "equivalent", "score");
  for (const auto& [name, score] : scores) {
    fmt::print("{:{}}  {:>6} {:>8} {:>11} {:>10} {:>5.1f} %\n", name, width, score.killed, score.survived,
               score.not_reached, score.equivalent, score.percent());
  }
}

}  // namespace

MutationScore print_mutants(const std::vector<MutantResult>& results, bool verbose) {
  print_all(results, Fate::survived, "survived");
  if (verbose) print_all(results, Fate::not_reached, "not reached");
  if (verbose) print_all(results, Fate::refused, "not compiled by Triton");
  MutationScore all;
  std::map<std::string, MutationScore> by_folder, by_kind;
  std::map<std::string, size_t> killers;
  for (const MutantResult& result : results) {
    all.add(result.fate);
    const std::filesystem::path folder = std::filesystem::path(result.mutant.file).parent_path();
    by_folder[folder.empty() ? "." : folder.string()].add(result.fate);
    by_kind[result.mutant.kind].add(result.fate);
    if (result.fate == Fate::killed) ++killers[std::string(parts_of_case(result.killer).check)];
  }
  print_table(by_folder, "folder");
  print_table(by_kind, "kind");
  std::vector<std::pair<std::string, size_t>> first(killers.begin(), killers.end());
  std::ranges::sort(first, std::greater(), [](const auto& each) { return each.second; });
  fmt::print("\nnoticed first by\n");
  for (const auto& [check, count] : first) fmt::print("  {:>6}  {}\n", count, check);
  return all;
}

}  // namespace opgate
