#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <opgate/promises.h>

#include <vector>

#include "spec/specs.h"

namespace opgate {

std::string_view to_string(Promise promise) {
  switch (promise) {
    case Promise::deterministic:
      return "deterministic";
    case Promise::layout_invariant:
      return "layout_invariant";
    case Promise::thread_invariant:
      return "thread_invariant";
    case Promise::batch_invariant:
      return "batch_invariant";
    case Promise::nondeterministic_seeded:
      return "nondeterministic_seeded";
    case Promise::capturable:
      return "capturable";
    case Promise::differentiable:
      return "differentiable";
    case Promise::twice_differentiable:
      return "twice_differentiable";
    case Promise::forward_differentiable:
      return "forward_differentiable";
    case Promise::vmappable:
      return "vmappable";
    case Promise::clear_errors:
      return "clear_errors";
    case Promise::refuses_overlap:
      return "refuses_overlap";
    case Promise::large_sizes:
      return "large_sizes";
    case Promise::picklable:
      return "picklable";
    case Promise::flattenable:
      return "flattenable";
  }
  return "";
}

Promise known_promise(const std::string& word, const std::string& where) {
  if (word == "draws_random") return nondeterministic_seeded;  // the name of this promise until 0.1
  std::vector<std::string_view> known;
  for (const Promise promise :
       {deterministic, layout_invariant, thread_invariant, batch_invariant, nondeterministic_seeded,
        capturable, differentiable, twice_differentiable, forward_differentiable, vmappable, clear_errors,
        refuses_overlap, large_sizes}) {
    known.push_back(to_string(promise));
    if (known.back() == word) return promise;
  }
  throw SpecError(fmt::format("{}: '{}' is no promise; there are: {}", where, word, fmt::join(known, ", ")));
}

}  // namespace opgate
