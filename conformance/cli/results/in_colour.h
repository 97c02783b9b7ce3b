// Verdicts and findings in the colours of the terminal.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/terminal.h"
#include "judging/verdict.h"

namespace opgate {

/// Green for what passes, yellow for what says nothing of the operator, red for what is broken.
Colour colour_of(Verdict verdict);

/// finding_text() with its first word, the verdict, in colour.
std::string finding_in_colour(std::string_view case_id, const Judgement& judgement,
                              const std::string& options);

}  // namespace opgate
