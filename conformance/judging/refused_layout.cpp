#include "judging/refused_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace opgate {
namespace {

constexpr std::array<std::string_view, 7> kWordsOfLayouts{
    "contiguous", "stride", "align", "memory format", "layout", "channels_last", "row-major"};
// PyTorch's own message for a view that a stride forbids: the kernel did not mean to refuse anything.
constexpr std::string_view kFailedView = "view size is not compatible";

bool names_a_layout(const std::string& message) {
  return !contains_ignoring_case(message, std::string(kFailedView)) &&
         std::ranges::any_of(kWordsOfLayouts, [&](std::string_view word) {
           return contains_ignoring_case(message, std::string(word));
         });
}

}  // namespace

std::optional<Judgement> note_of_refused_layout(const Spec& spec, const std::string& message) {
  if (!spec.draft || !names_a_layout(message)) return std::nullopt;
  return Judgement::note(
      fmt::format("the operator refuses layouts, saying \"{}\"; if that is intended, its spec says so with "
                  "wants_contiguous",
                  first_line(message)));
}

}  // namespace opgate
