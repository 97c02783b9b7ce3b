// promise.weakened: a spec promises no less than before, and an operator keeps its tags.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "gate/rule.h"
#include "spec/naming_words.h"
#include "spec/subject_facts.h"

namespace opgate::promise_weakened {
namespace {

const AccuracyFacts kDefaultGradients{64};  // see SpecWriter::gradient_accuracy

using Names = std::vector<std::string>;

Names missing(const Names& from, const Names& in) {
  Names words;
  std::ranges::set_difference(from, in, std::back_inserter(words));
  return words;
}

// How wide a tolerance is: no accuracy at all is the widest, and exact() is narrower than ulps(0).
double width(const std::optional<AccuracyFacts>& accuracy) {
  if (!accuracy) return std::numeric_limits<double>::infinity();
  return accuracy->ulps.value_or(-1);
}

std::string text_of(const std::optional<AccuracyFacts>& accuracy) {
  return accuracy ? to_text(*accuracy) : "none";
}

// Compares what one spec says before and after a change.
class Comparing {
 public:
  Comparing(const std::string& id, const SubjectFacts& base, const SubjectFacts& head, RuleReport& report)
      : id_(id), base_(base), head_(head), report_(report) {}

  void judge() {
    judge_promises();
    judge_accuracy("the accuracy", base_.accuracy, head_.accuracy);
    const bool gradients = std::ranges::count(base_.promises, "differentiable") > 0;
    if (gradients && head_.promises == base_.promises)
      judge_accuracy("the accuracy of gradients", base_.gradient_accuracy.value_or(kDefaultGradients),
                     head_.gradient_accuracy.value_or(kDefaultGradients));
    for (const NamingWord& word : kNamingWords) judge_names(word);
    if (base_.draft != head_.draft)
      say(head_.draft ? Remark::Kind::refused : Remark::Kind::better,
          head_.draft ? "the spec became a draft, which promises only what it says"
                      : "the spec is no longer a draft");
    judge_dtypes();
    judge_tags();
    judge_reference();
    judge_rejections();
    judge_benches();
  }

 private:
  void say(Remark::Kind kind, std::string what, std::string shown = "") {
    report_.add(kind, id_, std::move(what), std::move(shown));
  }

  void judge_promises() {
    if (const Names dropped = missing(base_.promises, head_.promises); !dropped.empty())
      say(Remark::Kind::refused, fmt::format("no longer promises {}", fmt::join(dropped, ", ")));
    if (const Names added = missing(head_.promises, base_.promises); !added.empty())
      say(Remark::Kind::better, fmt::format("promises {}, too", fmt::join(added, ", ")));
  }

  void judge_accuracy(std::string_view what, const std::optional<AccuracyFacts>& base,
                      const std::optional<AccuracyFacts>& head) {
    if (base == head) return;
    const std::string then = base ? base->scale : "", now = head ? head->scale : "";
    const std::string dtype_then = base ? base->dtype : "", dtype_now = head ? head->dtype : "";
    // A scale other than the result is never narrower than the result; two such scales cannot be compared.
    // The same holds for the ulps of a dtype, but there the change from one to another is refused, because it
    // may be wider.
    const bool wider = width(head) > width(base) || (then.empty() && !now.empty()) ||
                       (dtype_now != dtype_then && !dtype_now.empty());
    const bool narrower = width(head) < width(base) || (!then.empty() && now.empty()) ||
                          (dtype_now != dtype_then && dtype_now.empty());
    say(wider      ? Remark::Kind::refused
        : narrower ? Remark::Kind::better
                   : Remark::Kind::note,
        fmt::format("{} is {}", what,
                    wider      ? "looser"
                    : narrower ? "tighter"
                               : "measured at another scale"),
        fmt::format("{} -> {}", text_of(base), text_of(head)));
  }

  void judge_names(const NamingWord& word) {
    const Names base = base_.names(word.key), head = head_.names(word.key);
    if (base == head) return;
    if (!word.if_others.empty()) {
      say(Remark::Kind::refused, std::string(word.if_others),
          fmt::format("[{}] -> [{}]", fmt::join(base, ", "), fmt::join(head, ", ")));
      return;
    }
    if (const Names added = missing(head, base); !added.empty())
      say(Remark::Kind::refused, fmt::format("`{}` was added for {}", word.word, fmt::join(added, ", ")));
    if (const Names removed = missing(base, head); !removed.empty())
      say(Remark::Kind::better, fmt::format("`{}` is gone for {}", word.word, fmt::join(removed, ", ")));
  }

  // A device that is no longer promised at all is a loss of cases: case.lost.
  void judge_dtypes() {
    for (const auto& [device, dtypes] : base_.dtypes) {
      const auto now = head_.dtypes.find(device);
      if (now == head_.dtypes.end()) continue;
      if (const Names lost = missing(dtypes, now->second); !lost.empty())
        say(Remark::Kind::refused, fmt::format("{}: no longer accepts {}", device, fmt::join(lost, ", ")));
      if (const Names added = missing(now->second, dtypes); !added.empty())
        say(Remark::Kind::better, fmt::format("{}: accepts {}, too", device, fmt::join(added, ", ")));
    }
  }

  void judge_tags() {
    for (const std::string& tag : missing(base_.tags, head_.tags)) {
      const bool exempts = tag.starts_with("nondeterministic");
      say(exempts ? Remark::Kind::better : Remark::Kind::refused, fmt::format("the tag {} is gone", tag));
    }
    for (const std::string& tag : missing(head_.tags, base_.tags)) {
      const bool exempts = tag.starts_with("nondeterministic");
      say(exempts ? Remark::Kind::refused : Remark::Kind::note, fmt::format("has the tag {} now", tag));
    }
  }

  void judge_reference() {
    if (base_.reference == head_.reference) return;
    say(head_.reference.empty()   ? Remark::Kind::refused
        : base_.reference.empty() ? Remark::Kind::better
                                  : Remark::Kind::note,
        head_.reference.empty()   ? "there is no reference any more"
        : base_.reference.empty() ? "there is a reference now"
                                  : "the reference is another one",
        fmt::format("{} -> {}", base_.reference.empty() ? "none" : base_.reference,
                    head_.reference.empty() ? "none" : head_.reference));
  }

  void judge_rejections() {
    const auto renamed = renamed_samples(base_, head_);
    for (const auto& [name, call] : base_.rejections) {
      const auto now = head_.rejections.find(name);
      const std::string quoted = fmt::format("`{}`", name);
      if (now == head_.rejections.end()) {
        if (!renamed.contains(name))
          say(Remark::Kind::refused, fmt::format("no longer promises to reject {}", quoted), call);
      } else if (now->second != call) {
        say(Remark::Kind::refused,
            fmt::format("what must be raised for {} is another call or message", quoted),
            fmt::format("{} -> {}", call, now->second));
      }
    }
    for (const auto& [name, call] : head_.rejections) {
      const bool is_new_name =
          std::ranges::any_of(renamed, [&](const auto& one) { return one.second == name; });
      if (!base_.rejections.contains(name) && !is_new_name)
        say(Remark::Kind::better, fmt::format("promises to reject `{}`, too", name));
    }
  }

  void judge_benches() {
    for (const auto& [name, bench] : base_.benches) {
      const auto now = head_.benches.find(name);
      if (now == head_.benches.end())
        say(Remark::Kind::refused, fmt::format("the bench `{}` is gone", name), bench);
      else if (now->second != bench)
        say(Remark::Kind::note, fmt::format("the bench `{}` is another one", name),
            fmt::format("{} -> {}", bench, now->second));
    }
    for (const auto& [name, ratio] : base_.speed_limits) {
      const auto now = head_.speed_limits.find(name);
      if (now == head_.speed_limits.end())
        say(Remark::Kind::refused, fmt::format("the bench {} has no limit any more", name));
      else if (now->second != ratio)
        say(now->second < ratio ? Remark::Kind::refused : Remark::Kind::better,
            fmt::format("the bench {} may be {}", name,
                        now->second < ratio ? "slower" : "no slower than before"),
            fmt::format("{:.4g} -> {:.4g} times the baseline", ratio, now->second));
    }
  }

  const std::string& id_;
  const SubjectFacts &base_, &head_;
  RuleReport& report_;
};

void judge(const Change& change, RuleReport& report) {
  for_each_subject(change, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
    Comparing(id, base.facts, head.facts, report).judge();
  });
}

OPGATE_REGISTER_RULE(promise_weakened, {.name = "promise.weakened", .judge = &judge});

}  // namespace
}  // namespace opgate::promise_weakened
