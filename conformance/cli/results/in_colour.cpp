#include "cli/results/in_colour.h"

#include "results/finding_text.h"

namespace opgate {

Colour colour_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Colour::green;
  return verdict == Verdict::owed || verdict == Verdict::invalid ? Colour::yellow : Colour::red;
}

std::string finding_in_colour(std::string_view case_id, const Judgement& judgement,
                              const std::string& options) {
  const std::string text = finding_text(case_id, judgement, options);
  const size_t verdict = to_string(judgement.verdict).size();
  return coloured(colour_of(judgement.verdict), text.substr(0, verdict)) + text.substr(verdict);
}

}  // namespace opgate
