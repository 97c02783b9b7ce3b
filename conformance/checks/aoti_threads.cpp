// aoti.threads: one AOTInductor package, run from several threads at once.
#include "base/text.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "packages/package_folder.h"

namespace opgate::aoti_threads {
namespace {

Judgement judge(CallUnderTest& under_test) {
  const std::string promised =
      "one package, run from several threads at once, gives each thread the result of a run alone";
  if (under_test.promised(Promise::nondeterministic_seeded))
    return Judgement::pass();  // concurrent callers would share one generator, as in run.threads
  try {
    const std::string wrong =
        under_test.packages().at_once(under_test.key().device, call_id(under_test.key()));
    if (wrong.empty()) return Judgement::pass();
    return Judgement::fail({promised, wrong, "runs share a static buffer, cache or counter without a lock"});
  } catch (const std::exception& error) {  // no package can be loaded, or the generated code raises
    return judge_missing_package(under_test, promised, first_line(error.what()));
  }
}

OPGATE_REGISTER_CHECK(aoti_threads, {.name = "aoti.threads",
                                     .worker = Worker::aoti,
                                     .scope = {.ops = true,
                                               .models = true,
                                               .variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::first,
                                               .first_sample = true,
                                               .in_cpp = true,
                                               .over_torch = false},
                                     .needs_package = true,
                                     .needs_fake = true,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_threads
