// mutation.score: the specs notice mistakes in the lines that a change has touched.
#include <fmt/format.h>

#include "base/text.h"
#include "gate/rule.h"

namespace opgate::mutation_score {
namespace {

std::string place_of(const Mutant& mutant) { return fmt::format("{}:{}", mutant.file, mutant.line); }

// The mistake in one line, with what became of it.
void note(const MutantResult& result, const std::string& fate, RuleReport& report) {
  const Mutant& mutant = result.mutant;
  report.note("",
              fmt::format("{}: {} -> {} in {}", fate, shown_source(mutant.original),
                          shown_source(mutant.mutated), mutant.function),
              place_of(mutant));
}

void judge(const Change& change, RuleReport& report) {
  if (!change.mutants) return;
  const std::vector<MutantResult>& results = *change.mutants;
  const MutationScore score = score_of(results);
  if (score.percent() < change.least_score) {
    report.refuse("", fmt::format("{} of {} in the changed lines are noticed ({:.1f} %); "
                                  "mutation.least asks for {} %",
                                  score.killed, counted(score.killed + score.survived, "mistake"),
                                  score.percent(), change.least_score));
  }
  for (const MutantResult& result : results) {
    if (result.fate == Fate::survived) note(result, "nothing notices", report);
    if (result.fate == Fate::not_reached) note(result, "no sample reaches", report);
    if (result.fate == Fate::equivalent)
      note(result, fmt::format("counts as equivalent ({})", result.because), report);
  }
}

OPGATE_REGISTER_RULE(mutation_score, {.name = "mutation.score", .judge = &judge});

}  // namespace
}  // namespace opgate::mutation_score
