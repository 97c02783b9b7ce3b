// aoti.cross: the same package gives the same bits in Python and in C++.
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/outputs.h"
#include "paths/package_folder.h"

namespace opgate::aoti_cross {
namespace {

Judgement judge(Evidence& evidence) {
  const std::string promised = "one package returns the same bits in Python and in C++";
  const Outcome& packaged = evidence.by("aoti").outcome;
  if (!packaged.ok()) return Judgement::fail({promised, "in C++: " + packaged.raised->message, "", {}});
  const auto in_python = evidence.packages().python_digest(evidence.key().device, call_id(evidence.key()));
  if (!in_python) {
    return Judgement::fail(
        {promised, "Python got no result from the package; see aoti.python of the same call", "", {}});
  }
  if (digest(packaged.returned()) == *in_python) return Judgement::pass();
  return Judgement::fail(
      {promised,
       fmt::format("the outputs differ: digest {} in Python, {} in C++", *in_python,
                   digest(packaged.returned())),
       "the operator computes from something besides its arguments: uninitialised or out-of-bounds memory, "
       "global state, or the library loaded in one process is another build than in the other",
       {}});
}

OPGATE_REGISTER_CHECK(
    aoti_cross,
    {.name = "aoti.cross",
     .explanation =
         {.promise = "One AOTInductor package gives the same bits in Python and in C++.",
          .why =
              "A model is validated in Python and served in C++: what was validated must be what is served.",
          .fix = "Compare what differs between the two processes: the library file that is loaded, thread "
                 "counts, allocator contents. A result that depends on any of them is the defect.",
          .example = "pytorch 148005: a package whose output differs between the Python and the C++ runner."},
     .worker = Worker::aoti,
     .scope = {.ops = true,
               .models = true,
               .variants = Scope::Variants::packaged,
               .sweep = Scope::Sweep::one_at_a_time,
               .in_cpp = true},
     .needs_package = true,
     .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_cross
