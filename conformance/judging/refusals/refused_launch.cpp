#include "judging/refusals/refused_launch.h"

#include <fmt/format.h>

#include "device/accelerator.h"
#include "device/simulator.h"
#include "judging/comparison/output_judgement.h"

namespace opgate {
namespace {

constexpr unsigned kMostLaunches = 16;

// What the call does instead of raising; empty if it does what it should.
std::string silence(CallUnderTest& under_test, const Outcome& outcome, const std::string& promised) {
  if (!outcome.ok()) return "";
  const AcceleratorWords words = accelerator(under_test.key().device).words();
  if (!outcome.left_error.empty()) {
    return fmt::format("the call returns without an exception, and {} then says: {}", words.last_error,
                       outcome.left_error);
  }
  const Judgement same =
      judge_same(under_test, outcome, under_test.observed().outcome, /*bits=*/false, promised);
  return same.finding ? "the call returns other results, without an exception" : "";
}

}  // namespace

Judgement judge_refused_launches(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const std::string promised = "a launch that the device refuses is answered by an exception";
  for (unsigned number = 1; number <= kMostLaunches; ++number) {
    const Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
    RefusedLaunch refused(number);
    const Outcome outcome = call_on(key, arguments.stack);
    const auto kernel = refused.take_kernel();
    if (!kernel) break;
    const std::string does = silence(under_test, outcome, promised);
    if (does.empty()) continue;
    Finding finding{
        promised, fmt::format("launch {}, of {}, is refused: {}", number, *kernel, does),
        fmt::format("{} is missing behind the launch", accelerator(key.device).words().launch_check)};
    return under_test.promised(Promise::clear_errors) ? Judgement::fail(std::move(finding))
                                                      : Judgement::note(std::move(finding));
  }
  return Judgement::pass();
}

}  // namespace opgate
