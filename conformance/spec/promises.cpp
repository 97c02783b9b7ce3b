#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/promises.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/errors.h"
#include "spec/specs.h"

namespace opgate {
namespace {

struct PromiseName {
  Promise promise;
  std::string_view name;
  bool in_specs = true;  ///< whether a spec may name it; the engine sets the others itself
};

constexpr std::array kPromises{
    PromiseName{Promise::deterministic, "deterministic"},
    PromiseName{Promise::layout_invariant, "layout_invariant"},
    PromiseName{Promise::thread_invariant, "thread_invariant"},
    PromiseName{Promise::batch_invariant, "batch_invariant"},
    PromiseName{Promise::nondeterministic_seeded, "nondeterministic_seeded"},
    PromiseName{Promise::capturable, "capturable"},
    PromiseName{Promise::differentiable, "differentiable"},
    PromiseName{Promise::twice_differentiable, "twice_differentiable"},
    PromiseName{Promise::forward_differentiable, "forward_differentiable"},
    PromiseName{Promise::vmappable, "vmappable"},
    PromiseName{Promise::clear_errors, "clear_errors"},
    PromiseName{Promise::fake_refuses, "fake_refuses"},
    PromiseName{Promise::unbacked_sizes, "unbacked_sizes"},
    PromiseName{Promise::refuses_overlap, "refuses_overlap"},
    PromiseName{Promise::large_sizes, "large_sizes"},
    PromiseName{Promise::picklable, "picklable", false},
    PromiseName{Promise::flattenable, "flattenable", false},
};

}  // namespace

std::string_view to_string(Promise promise) {
  return std::ranges::find(kPromises, promise, &PromiseName::promise)->name;
}

Promise known_promise(const std::string& word, const std::string& where) {
  if (word == "draws_random") return nondeterministic_seeded;  // the name of this promise until 0.1
  std::vector<std::string_view> known;
  for (const PromiseName& one : kPromises) {
    if (!one.in_specs) continue;
    if (one.name == word) return one.promise;
    known.push_back(one.name);
  }
  throw spec_error("{}: '{}' is no promise; there are: {}", where, word, fmt::join(known, ", "));
}

}  // namespace opgate
