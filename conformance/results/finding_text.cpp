#include "results/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "inputs/variant_text.h"
#include "plan/case_parts.h"

namespace opgate {

std::string call_text(std::string_view call_id) {
  constexpr size_t kOfSample = 40;
  const CaseParts parts = parts_of_call(call_id);
  std::string sample(parts.sample);
  if (sample.size() > kOfSample) sample = sample.substr(0, kOfSample) + "...";
  const std::string_view sizes = sizes_without_elements(parts.variant);
  return fmt::format(
      "{} · {} · {} · {} · {}", parts.op, parts.dtype, sample,
      sizes.empty() ? std::string(parts.variant) : fmt::format("every dim of size {} is empty", sizes),
      parts.device);
}

std::string finding_text(std::string_view case_id, const Judgement& judgement,
                         const std::optional<std::string>& options) {
  const CaseParts parts = parts_of_case(case_id);
  std::string word(to_string(judgement.verdict));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = fmt::format("{} {} · {}\n", word, parts.check, call_text(parts.call));
  const auto line = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:10} {}\n", label, value);
  };
  if (judgement.finding) {
    line("promised", judgement.finding->promised);
    line("happened", judgement.finding->happened);
    for (const std::string& detail : judgement.finding->detail)
      text += fmt::format("  {:10} {}\n", "", detail);
    line("likely", judgement.finding->likely);
  }
  line("because", judgement.reason);
  // What a check that draws its calls has tried is no note: each operator would have one.
  if (judgement.verdict == Verdict::pass && judgement.reason.empty()) line("tried", judgement.remarks);
  for (size_t i = 0; i < judgement.stack.size(); ++i) line(i == 0 ? "in" : "called by", judgement.stack[i]);
  if (judgement.worst_ulps > 0) line("worst", fmt::format("{:.3g} ulps", judgement.worst_ulps));
  if (judgement.verdict == Verdict::pass) return text;
  if (options) line("again", fmt::format("opgate repro '{}'{}", case_id, *options));
  line("more", fmt::format("opgate explain {}{}", parts.check, options.value_or("")));
  return text;
}

}  // namespace opgate
