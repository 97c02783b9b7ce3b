// aoti.cross: the same package gives the same bits in Python and in C++.
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "packages/package_folder.h"

namespace opgate::aoti_cross {
namespace {

Judgement judge(CallUnderTest& under_test) {
  const std::string promised = "one package returns the same bits in Python and in C++";
  const Outcome& packaged = under_test.packaged();
  if (!packaged.ok())
    return judge_missing_package(under_test, promised, "in C++: " + packaged.raised->message);
  const auto in_python =
      under_test.packages().python_digest(under_test.key().device, call_id(under_test.key()));
  if (!in_python) {
    return Judgement::fail(
        {promised, "the package returned no result in Python; see aoti.python for the same call"});
  }
  // Both processes have a result, of random numbers of their own.
  if (under_test.promised(Promise::nondeterministic_seeded)) return Judgement::pass();
  if (digest(packaged.returned()) == *in_python) return Judgement::pass();
  return Judgement::fail(
      {promised,
       fmt::format("the outputs differ: digest {} in Python, {} in C++", *in_python,
                   digest(packaged.returned())),
       "the result depends on more than the arguments: uninitialised or out-of-bounds memory, or global "
       "state; or the two processes load different builds of the library"});
}

OPGATE_REGISTER_CHECK(aoti_cross, {.name = "aoti.cross",
                                   .worker = Worker::aoti,
                                   .scope = {.ops = true,
                                             .models = true,
                                             .variants = Scope::Variants::packaged,
                                             .sweep = Scope::Sweep::one_at_a_time,
                                             .in_cpp = true,
                                             .over_torch = false},
                                   .needs_package = true,
                                   .needs_fake = true,
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_cross
