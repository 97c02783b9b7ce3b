// An object and its model through one sequence of calls, while something is done to the tensors that go in
// and come out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "classes/sequence.h"

namespace opgate {

/// What the caller does between calls. Each is harmless to a class that keeps what it needs and no more.
enum class Handling {
  kept,                   ///< arguments and results stay as they are, until the end
  arguments_overwritten,  ///< and freed, after each call
  results_overwritten,
  beside_another,  ///< another object is called in between: the same calls, the last one first
};

/// "the caller writes into the arguments after each call"; empty for `kept`.
std::string_view to_string(Handling handling);

struct Mishap {
  std::string promised;
  std::string happened;
  std::string likely;
};

struct Course {
  std::optional<Mishap> mishap;  ///< the first
  double worst_ulps = 0;         ///< of all results, against the model's
};

/// Throws SetupError where the class or its model refuses the constructor's arguments.
Course follow(const CallKey& key, const Sequence& sequence, Handling handling);

}  // namespace opgate
