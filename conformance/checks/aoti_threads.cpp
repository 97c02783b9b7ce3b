// aoti.threads: one AOTInductor package, run from several threads at once.
#include "base/text.h"
#include "checks/check.h"
#include "paths/package_folder.h"

namespace opgate::aoti_threads {
namespace {

Judgement judge(Evidence& evidence) {
  const std::string promised = "one package, run from several threads at once, gives each what it gets alone";
  try {
    const std::string wrong = evidence.packages().at_once(evidence.key().device, call_id(evidence.key()));
    if (wrong.empty()) return Judgement::pass();
    return Judgement::fail(
        {promised, wrong, "a static buffer, cache or counter that runs share without a lock", {}});
  } catch (const std::exception& error) {  // no package that can be loaded, or what the generated code raises
    return Judgement::fail({promised, first_line(error.what()), "", {}});
  }
}

OPGATE_REGISTER_CHECK(
    aoti_threads,
    {.name = "aoti.threads",
     .explanation =
         {.promise =
              "One AOTInductor package, run from several threads at once, gives each what it gets alone.",
          .why = "A server loads a package once and runs it from every thread: so many calls of an operator "
                 "meet that hardly ever do in a test.",
          .fix = "First make run.threads pass. Keep no state between calls that is not const; give each "
                 "call, or each thread, a workspace of its own.",
          .example = "operators with a static scratch tensor."},
     .worker = Worker::aoti,
     .scope = {.ops = true,
               .models = true,
               .variants = Scope::Variants::contiguous,
               .dtypes = Scope::Dtypes::first,
               .first_sample = true,
               .in_cpp = true},
     .needs_package = true,
     .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_threads
