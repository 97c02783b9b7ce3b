// output.metadata: results have the same shapes, strides, storage offsets and dtypes as before.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate::output_metadata {
namespace {

struct Changed {
  size_t count = 0;
  std::string first, then, now;  ///< sample and variant
};

using Texts = std::map<std::string, std::string>;

// What the calls of "x=stepped" or "x=stepped, float64" returned. Where dtypes agree, there is one entry
// for all of them; a variant without an entry returned the same as the contiguous call.
std::string text_of(const Texts& texts, const std::string& variant) {
  const auto comma = variant.rfind(", ");
  const std::string all_dtypes = variant.substr(0, comma);
  const std::string dtype = comma == std::string::npos ? "" : variant.substr(comma);
  for (const std::string& name : {variant, all_dtypes, "contiguous" + dtype, std::string("contiguous")}) {
    if (const auto found = texts.find(name); found != texts.end()) return found->second;
  }
  return "";
}

// True if the variant has an entry for each dtype instead of one for all of them.
bool told_apart(const Texts& texts, const std::string& variant) {
  const auto next = texts.lower_bound(variant + ", ");
  return next != texts.end() && next->first.starts_with(variant + ", ");
}

// True if a call of the variant is planned: "x=stepped" or "x=stepped, float64".
bool is_planned(const PlannedCases& planned, const std::string& sample, const std::string& variant) {
  return planned.find(sample, variant.substr(0, variant.rfind(", "))) != nullptr;
}

void compare_sample(const std::string& sample, const DeviceState& base_state, const DeviceState& head_state,
                    Changed& changed) {
  const Texts &base = base_state.outputs.at(sample), &head = head_state.outputs.at(sample);
  Texts variants = base;
  variants.insert(head.begin(), head.end());
  for (const auto& [variant, ignored] : variants) {
    if (told_apart(base, variant) || told_apart(head, variant)) continue;
    if (!is_planned(base_state.planned, sample, variant) || !is_planned(head_state.planned, sample, variant))
      continue;  // there is nothing to compare with; case.lost judges whether it may be gone
    const std::string then = text_of(base, variant), now = text_of(head, variant);
    if (then == now || then.empty() || now.empty() || then == "raises") continue;
    if (changed.count++ == 0) changed = {1, fmt::format("{}, {}", sample, variant), then, now};
  }
}

void judge(const Change& change, RuleReport& report) {
  for_each_device(change, [&](const std::string& id, const std::string& device, const DeviceState& base,
                              const DeviceState& head) {
    Changed changed;
    for (const auto& [sample, texts] : base.outputs) {
      const bool same = same_arguments(change.base.at(id).facts, change.head.state.at(id).facts, sample);
      if (head.outputs.contains(sample) && same) compare_sample(sample, base, head, changed);
    }
    if (changed.count == 0) return;
    report.refuse(
        id,
        fmt::format("{}: what it returns changed from {} to {} ({}{}): programs that were compiled before "
                    "will break",
                    device, changed.then, changed.now, changed.first,
                    changed.count == 1 ? "" : fmt::format(", and {} more", changed.count - 1)));
  });
}

OPGATE_REGISTER_RULE(output_metadata, {.name = "output.metadata", .judge = &judge});

}  // namespace
}  // namespace opgate::output_metadata
