#include "defects/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "defects/defect.h"
#include "judging/fault.h"

namespace opgate {
namespace {

struct OfFault {
  std::string_view kind;
  Severity severity;
  std::string_view cause;  // without a likely cause in the finding; {} stands for Fault::about
};

constexpr std::array kOfFaults{
    OfFault{kCrashFault, Severity::memory, "it ends the process: {}"},
    OfFault{kTimeoutFault, Severity::memory, "it does not return: {}"},
    OfFault{fault::kWritesOutside, Severity::memory, "it writes outside its memory"},
    OfFault{fault::kReadsOutside, Severity::memory, "it reads outside its memory"},
    OfFault{fault::kUninitialised, Severity::memory, "it uses memory that it has not written"},
    OfFault{fault::kDangling, Severity::memory, "its result lies in memory that it does not own"},
    OfFault{fault::kLayout, Severity::values, "the result depends on the layout of `{}`"},
    OfFault{fault::kValues, Severity::values, "the result is not the reference's"},
    OfFault{fault::kKept, Severity::values, "something is kept from an earlier call"},
    OfFault{fault::kUnstable, Severity::values, "results differ from call to call"},
    OfFault{fault::kFake, Severity::metadata, "the fake kernel gives other results than the operator"},
    OfFault{fault::kAlias, Severity::metadata, "the result shares memory with `{}`, against its schema"},
    OfFault{fault::kMutation, Severity::metadata, "it changes `{}`, against its schema"},
    OfFault{fault::kState, Severity::metadata, "it changes the state of the process"},
    OfFault{fault::kGradient, Severity::gradients, "the gradient of `{}` is wrong"},
    OfFault{fault::kUnchecked, Severity::errors, "it accepts bad inputs"},
    OfFault{fault::kMessage, Severity::errors, "its refusal does not say what is wrong: {}"},
    OfFault{kSpecFault, Severity::spec, "{}"},
};

// By the group of the check, for faults that only one check can see.
struct OfCheck {
  std::string_view begin;
  Severity severity;
};

constexpr std::array kOfChecks{
    OfCheck{"memory.", Severity::memory},      OfCheck{"fake.exists", Severity::registration},
    OfCheck{"fake.", Severity::metadata},      OfCheck{"effect.", Severity::metadata},
    OfCheck{"grad.", Severity::gradients},     OfCheck{"error.", Severity::errors},
    OfCheck{"value.dtype", Severity::errors},  OfCheck{"registration.", Severity::registration},
    OfCheck{"opcheck", Severity::registration}, OfCheck{"", Severity::values},
};

const OfFault* words_of(std::string_view kind) {
  const auto found = std::ranges::find(kOfFaults, kind, &OfFault::kind);
  return found == kOfFaults.end() ? nullptr : &*found;
}

}  // namespace

std::string cause_of(const BrokenCase& broken) {
  const OfFault* words = words_of(broken.fault.kind);
  const Finding* finding = broken.judgement.finding ? &*broken.judgement.finding : nullptr;
  if (words != nullptr && broken.fault.kind == fault::kLayout && finding != nullptr && !finding->likely.empty() &&
      broken.check == "value.layout")
    return finding->likely;
  if (words != nullptr) return fmt::format(fmt::runtime(words->cause), broken.fault.about);
  if (finding == nullptr) return broken.judgement.reason;
  return "not kept: " + finding->promised;
}

Severity severity_of(const BrokenCase& broken) {
  if (const OfFault* words = words_of(broken.fault.kind)) return words->severity;
  return std::ranges::find_if(kOfChecks, [&](const OfCheck& of) { return broken.check.starts_with(of.begin); })
      ->severity;
}

}  // namespace opgate
