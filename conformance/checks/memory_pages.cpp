// memory.pages: no byte before or after an argument is accessed, not even read.
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "memory/guard_pages.h"

namespace opgate::memory_pages {
namespace {

Arguments beside_pages(CallUnderTest& under_test, Place place) {
  const GuardScope scope(kFirstPoison, place);
  Arguments arguments = materialize(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  for (const TensorInput& input : arguments.tensors)
    guard::label(input.tensor.storage().data(), fmt::format("`{}`", input.name));
  return arguments;
}

// An access outside ends the process with a fault, which the supervisor reports, so a call that returns
// passes.
Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  for (const Place place : {Place::page_end, Place::page_start}) {
    const Arguments arguments = beside_pages(under_test, place);
    static_cast<void>(call_on(under_test.key(), arguments.stack));
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(memory_pages, {.name = "memory.pages",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::declared,
                                               .device = Scope::Device::cpu},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_pages
