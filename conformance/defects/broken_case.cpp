#include "defects/broken_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "inputs/variant_text.h"
#include "judging/fault.h"
#include "plan/case_parts.h"

namespace opgate {
namespace {

// Crashes in the same function, called by the same one, have one cause; the lines may differ.
constexpr size_t kFramesThatTell = 2;

// "scale" of "scale<float> at kernels.cpp:41": a template is instantiated for each dtype.
std::string function_of(std::string_view frame) {
  std::string name;
  int depth = 0;
  for (const char c : frame.substr(0, std::min(frame.find(" at "), frame.find(" in ")))) {
    depth += c == '<';
    if (depth == 0) name += c;
    depth -= c == '>';
  }
  return name;
}

// Without a stack, only what was called and how it ended are known.
std::string kind_of_variant(const BrokenCase& broken) {
  if (is_undamaged(broken.variant)) return "";
  if (broken.damage) return fmt::format(" where `{}` is bad", broken.damaged_argument);
  return is_rearranged(broken.variant) ? " in other layouts" : " with other sizes";
}

std::string place_of_crash(const BrokenCase& broken) {
  const std::vector<std::string> functions = broken.innermost_functions();
  const std::string_view how = broken.how_it_ended();
  if (functions.empty()) return fmt::format("{}{}", how, kind_of_variant(broken));
  return fmt::format("{} in {}", how, fmt::join(functions, ", called by "));
}

// "x must have 4 rows, got 5" and "x must have 6 rows, got 7" are one message.
std::string without_numbers(std::string_view text) {
  std::string without;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      without += c;
    } else if (!without.ends_with('#')) {
      without += '#';
    }
  }
  return without;
}

}  // namespace

BrokenCase::BrokenCase(std::string case_id, Judgement said)
    : id(std::move(case_id)), judgement(std::move(said)) {
  const CaseParts parts = parts_of_case(id);
  op = parts.op;
  dtype = parts.dtype;
  sample = parts.sample;
  set_variant(parts.variant);
  device = parts.device;
  check = parts.check;
  if (is_crash()) {
    fault.kind = judgement.verdict == Verdict::crash ? kCrashFault : kTimeoutFault;
    fault.about = place_of_crash(*this);
  } else if (judgement.verdict == Verdict::invalid || !judgement.finding) {
    fault.kind = kSpecFault;
    fault.about = first_line(judgement.reason);
  } else {
    fault = judgement.finding->fault;
    if (!fault.variant.empty()) set_variant(fault.variant);
    if (fault.kind.empty()) fault.kind = fault.check.empty() ? check : fault.check;
  }
}

void BrokenCase::set_variant(std::string_view text) {
  variant = text;
  damage = damage_of(variant);
  damaged_argument = opgate::damaged_argument(variant);
}

std::string_view BrokenCase::how_it_ended() const {
  if (judgement.verdict == Verdict::timeout) return "no answer";
  return judgement.uncaught.empty() ? std::string_view(judgement.ended) : "an exception that is not caught";
}

std::vector<std::string> BrokenCase::innermost_functions() const {
  std::vector<std::string> functions;
  for (const std::string& frame : judgement.stack) {
    if (functions.size() < kFramesThatTell) functions.push_back(function_of(frame));
  }
  return functions;
}

bool BrokenCase::is_of_memory() const {
  return fault.kind == fault::kReadsOutside || fault.kind == fault::kWritesOutside ||
         fault.kind == fault::kUninitialised;
}

std::pair<std::string, std::string> BrokenCase::group() const {
  // An operator that accepts one bad input after another lacks the checks of its arguments; the reference's
  // words differ.
  if (fault.kind == fault::kUnchecked) return {fault.kind, ""};
  if (fault.kind == fault::kMessage) return {fault.kind, without_numbers(fault.about)};
  // The file of a spec lies elsewhere in another checkout.
  if (fault.kind == kSpecFault && fault.about.find('/') < fault.about.find(": "))
    return {fault.kind, without_numbers(std::string_view(fault.about).substr(fault.about.find(": ") + 2))};
  const bool is_tensor_of_list = fault.kind == fault::kAlias || fault.kind == fault::kMutation ||
                                 fault.kind == fault::kMutationWithGradients ||
                                 fault.kind == fault::kGradient;
  return {fault.kind, is_tensor_of_list ? fault.about.substr(0, fault.about.find('[')) : fault.about};
}

}  // namespace opgate
