#include "cli/results/sample_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <vector>

#include "plan/case_parts.h"

namespace opgate {
namespace {

size_t count(const std::map<std::string, std::set<std::string>>& samples_by_dtype) {
  return std::accumulate(samples_by_dtype.begin(), samples_by_dtype.end(), size_t{0},
                         [](size_t sum, const auto& entry) { return sum + entry.second.size(); });
}

}  // namespace

// A call on several devices counts once, because its reference is the same.
void SampleNotes::add(std::string_view call_id, const CallFacts& facts) {
  if (!facts.trivial) return;
  const CaseParts parts = parts_of_call(call_id);
  OfOperator& of = operators_[std::string(parts.op)];
  const std::string dtype(parts.dtype), sample(parts.sample);
  of.asked[dtype].insert(sample);
  for (const std::string& answer : *facts.trivial) of.passing[answer][dtype].insert(sample);
}

std::string SampleNotes::text() const {
  std::map<std::string, std::vector<std::string>> alike;  // operators, by what is to be noted
  for (const auto& [op, of] : operators_) {
    const size_t asked = count(of.asked);
    std::vector<std::string> answers;
    for (const auto& [answer, calls] : of.passing) {
      std::vector<std::string> whole;  // dtypes
      for (const auto& [dtype, samples] : calls) {
        if (samples.size() == of.asked.at(dtype).size()) whole.push_back(dtype);
      }
      if (const size_t passing = count(calls); 2 * passing > asked)
        answers.push_back(fmt::format("from {} in {} of {} calls", answer, passing, asked));
      else if (!whole.empty())
        answers.push_back(fmt::format("from {} in all calls of {}", answer, fmt::join(whole, ", ")));
    }
    if (!answers.empty()) alike[fmt::format("{}", fmt::join(answers, ", "))].push_back(op);
  }
  std::string text;
  for (const auto& [answers, ops] : alike) {
    text += fmt::format("  {}: samples cannot distinguish the results {} (value.reference)\n",
                        fmt::join(ops, ", "), answers);
  }
  return text;
}

}  // namespace opgate
