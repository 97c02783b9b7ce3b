#include "defects/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check_group.h"
#include "defects/defect.h"
#include "judging/fault.h"

namespace opgate {
namespace {

struct OfFault {
  std::string_view kind;
  Severity severity;
  std::string_view cause;  // {} stands for Fault::about
  std::string_view check;  // the one that is about this fault; none for crashes
};

constexpr std::array kOfFaults{
    OfFault{kCrashFault, Severity::memory, "it ends the process: {}", ""},
    OfFault{kTimeoutFault, Severity::memory, "it does not return: {}", ""},
    OfFault{fault::kWritesOutside, Severity::memory, "it writes outside its memory", "memory.bounds"},
    OfFault{fault::kReadsOutside, Severity::memory, "it reads outside its memory", "memory.bounds"},
    OfFault{fault::kUninitialised, Severity::memory, "it uses memory that it has not written",
            "memory.uninitialised"},
    OfFault{fault::kDangling, Severity::memory, "its result lies in memory that it does not own",
            "memory.lifetime"},
    OfFault{fault::kLayout, Severity::values, "the result depends on the layout of `{}`", "value.layout"},
    OfFault{fault::kValues, Severity::values, "the result is not the reference's", "value.reference"},
    OfFault{fault::kKept, Severity::values, "something is kept from an earlier call", "memory.lifetime"},
    OfFault{fault::kUnstable, Severity::values, "results differ from call to call", "run.deterministic"},
    OfFault{fault::kRandom, Severity::values,
            "it draws random numbers from the default generator, and is not tagged nondeterministic_seeded",
            "effect.state"},
    OfFault{fault::kFake, Severity::metadata, "the fake kernel gives other results than the operator",
            "fake.metadata"},
    OfFault{fault::kFakeAccepts, Severity::metadata, "the fake kernel accepts what the operator refuses",
            "fake.refuses"},
    OfFault{fault::kAlias, Severity::metadata, "the result shares memory with `{}`, against its schema",
            "effect.alias"},
    OfFault{fault::kMutation, Severity::metadata, "it changes `{}`, against its schema", "effect.mutation"},
    OfFault{fault::kMutationWithGradients, Severity::metadata,
            "it changes `{}` where its inputs require gradients, against its schema", "effect.mutation"},
    OfFault{fault::kState, Severity::metadata, "it changes the state of the process", "effect.state"},
    OfFault{fault::kGradient, Severity::gradients, "the gradient of `{}` is wrong", "grad.numeric"},
    OfFault{fault::kNoDerivative, Severity::gradients, "no result has a derivative", "grad.numeric"},
    OfFault{fault::kWrittenCotangent, Severity::gradients, "the backward writes the incoming gradient of {}",
            "grad.repeated"},
    OfFault{fault::kUnchecked, Severity::errors, "it accepts bad inputs", "error.raises"},
    OfFault{fault::kMessage, Severity::errors, "its refusal does not say what is wrong: {}", "error.message"},
    OfFault{kSpecFault, Severity::spec, "{}", ""},
};

// By the check or its group, for faults that only one check can see.
struct OfCheck {
  std::string_view check;
  Severity severity;
};

constexpr std::array kOfChecks{
    OfCheck{"memory", Severity::memory},        OfCheck{"fake.exists", Severity::registration},
    OfCheck{"fake", Severity::metadata},        OfCheck{"effect", Severity::metadata},
    OfCheck{"grad", Severity::gradients},       OfCheck{"error", Severity::errors},
    OfCheck{"value.dtype", Severity::errors},   OfCheck{"registration", Severity::registration},
    OfCheck{"opcheck", Severity::registration},
};

const OfFault* words_of(std::string_view kind) {
  const auto found = std::ranges::find(kOfFaults, kind, &OfFault::kind);
  return found == kOfFaults.end() ? nullptr : &*found;
}

}  // namespace

std::string cause_of(const BrokenCase& broken) {
  if (!broken.fault.cause.empty()) return broken.fault.cause;
  if (broken.fault.kind == fault::kLayout && broken.fault.about == "all")
    return "the result depends on the layout of its arguments, where all have the same";
  if (broken.fault.kind == fault::kAlias && broken.fault.about == fault::kAmongResults)
    return "two results share memory";
  if (const OfFault* words = words_of(broken.fault.kind)) {
    const bool only_if_bad = broken.is_of_memory() && broken.damage;
    return fmt::format(fmt::runtime(words->cause), broken.fault.about) +
           (only_if_bad ? " where " + in_words(*broken.damage) : "");
  }
  return broken.judgement.finding ? "not kept: " + broken.judgement.finding->promised
                                  : broken.judgement.reason;
}

bool is_about_its_fault(const BrokenCase& broken) {
  const OfFault* words = words_of(broken.fault.kind);
  return words == nullptr || words->check.empty() || words->check == broken.check;
}

Severity severity_of(const BrokenCase& broken) {
  if (const OfFault* words = words_of(broken.fault.kind)) return words->severity;
  const auto* const found = std::ranges::find_if(kOfChecks, [&](const OfCheck& of) {
    return of.check == broken.check || of.check == group_of_check(broken.check);
  });
  return found == kOfChecks.end() ? Severity::values : found->severity;
}

}  // namespace opgate
