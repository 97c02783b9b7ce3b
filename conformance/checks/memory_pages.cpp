// memory.pages: no byte beside an argument is touched, not even read.
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/outputs.h"
#include "memory/guard_pages.h"

namespace opgate::memory_pages {
namespace {

Arguments beside_pages(Evidence& evidence, Place place) {
  const GuardScope scope(kFirstPoison, place);
  Arguments arguments = materialise(evidence.key(), evidence.bench().values, {.photographed = false});
  for (const TensorInput& input : arguments.tensors)
    guard::label(input.tensor.storage().data(), fmt::format("`{}`", input.name));
  return arguments;
}

// A touch outside ends the process with a fault, which the supervisor hears of: to come back is to pass.
Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  guard_pages::report_faults();
  for (const Place place : {Place::page_end, Place::page_start}) {
    const Arguments arguments = beside_pages(evidence, place);
    static_cast<void>(call_on(evidence.key(), arguments.stack));
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    memory_pages,
    {.name = "memory.pages",
     .explanation =
         {.promise = "No byte before or behind an argument's storage is touched, not even read.",
          .why =
              "The storages lie flush against a page that the process may not touch, at either end in turn: "
              "the first byte out of bounds ends it. A read there may never change a result, and still ends "
              "a production process on the day that the tensor lies at the end of mapped memory.",
          .fix = "The fault's message names the argument and how far beside it the touch was. Bound vector "
                 "loads by the tensor's end, or load the remainder element by element.",
          .example = "vision 9629: a vectorised loop that reads one vector past the last row."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .dtypes = Scope::Dtypes::declared,
               .device = c10::kCPU},
     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_pages
