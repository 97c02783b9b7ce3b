// Runs an object and its model through one sequence of calls, while the caller keeps or overwrites the
// tensors that go in and come out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "classes/call_sequence.h"

namespace opgate {

/// What the caller does between calls. None of it affects a class that copies what it keeps and returns.
enum class Handling {
  kept,                   ///< arguments and results stay as they are, until the end
  arguments_overwritten,  ///< arguments are overwritten and freed after each call
  results_overwritten,    ///< each result is overwritten after its call
  beside_another,         ///< another object is called in between: the same calls, the last one first
};

/// The handling in words: "the caller writes into each result"; empty for `kept`.
std::string_view to_string(Handling handling);

struct Mismatch {
  std::string promised;
  std::string happened;
  std::string likely;
};

struct ModelRun {
  std::optional<Mismatch> mismatch;  ///< the first one
  double worst_ulps = 0;             ///< worst error of all results, compared with the model's
};

/// Makes an object and its model, and calls both until a mismatch. Throws SetupError if the class or its
/// model refuses the constructor's arguments.
ModelRun run_beside_model(const CallKey& key, const Sequence& sequence, Handling handling);

}  // namespace opgate
