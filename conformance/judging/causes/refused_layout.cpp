#include "judging/causes/refused_layout.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr std::array<std::string_view, 9> kWordsOfLayouts{
    "contiguous",    "stride",    "align",          "memory format", "layout",
    "channels_last", "row-major", "storage_offset", "storage offset"};
// PyTorch's own message for a view that a stride forbids: the kernel did not mean to refuse anything, unless
// it returns views.
constexpr std::string_view kFailedView = "view size is not compatible";

bool returns_a_view(const Spec& spec) {
  return std::ranges::any_of(spec.op->schema().returns(), [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

bool names_a_layout(const Spec& spec, const std::string& message) {
  if (contains_ignoring_case(message, kFailedView)) return returns_a_view(spec);
  return std::ranges::any_of(kWordsOfLayouts,
                             [&](std::string_view word) { return contains_ignoring_case(message, word); });
}

}  // namespace

std::optional<Judgement> note_of_refused_layout(const Spec& spec, const Raised& raised) {
  if (!spec.draft || (raised.has_text && !names_a_layout(spec, raised.message))) return std::nullopt;
  const std::string refusal =
      raised.has_text
          ? fmt::format("saying \"{}\"", first_line(raised.message))
          : fmt::format("by {} without a message", raised.message.empty() ? "an exception" : raised.message);
  return Judgement::note(fmt::format(
      "the operator refuses layouts, {}; if that is intended, its spec says so with wants_contiguous",
      refusal));
}

}  // namespace opgate
