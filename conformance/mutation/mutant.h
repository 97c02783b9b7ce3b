// A mutant of a library's sources, as the Python half made it, and what became of it.
#pragma once

#include <cstddef>
#include <string>

namespace opgate {

struct Mutant {
  int number = 0;
  std::string kind;      ///< "comparison"
  std::string file;      ///< relative to the project
  int line = 0;          ///< from 1
  int column = 0;        ///< from 1
  std::string function;  ///< the function that contains it
  std::string original;  ///< the changed part of the source
  std::string mutated;   ///< what stands there instead; empty: nothing
};

/// The source with a single space instead of each gap and line break.
std::string in_one_line(const std::string& source);

/// The source as people read it: in one line that is cut if it is long; "(nothing)" for none.
std::string shown_source(const std::string& source);

enum class Fate {
  killed,       ///< a case noticed it
  survived,     ///< no case that reaches it noticed it
  not_reached,  ///< no case runs its code
  equivalent,   ///< it survived, and somebody has examined it: it cannot be noticed
  refused,      ///< Triton does not compile it
};

struct MutantResult {
  Mutant mutant;
  Fate fate = Fate::not_reached;
  size_t reaching = 0;  ///< calls of the plan that run its code
  size_t cases = 0;     ///< cases that were judged
  std::string killer;   ///< the case that noticed it; of a survivor: a case of a slow check that notices it
  std::string how;      ///< that case's verdict: "wrong", "crash"
  std::string found;    ///< what that case found, in words
  /// For an equivalent one: the reason that was given; for a refused one: Triton's message.
  std::string because;
};

}  // namespace opgate
