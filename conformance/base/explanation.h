// What `opgate explain` prints about a check, or about a rule of the gate. The texts stand in the Markdown
// file beside its code, value_layout.md beside value_layout.cpp. How such a file is written is described in
// python/opgate/judging/explanation.py.
#pragma once

#include <string>
#include <string_view>

namespace opgate {

struct Explanation {
  std::string promise;  ///< one line
  std::string why;      ///< why PyTorch's subsystems, or those who use the operator, rely on it
  std::string fix;      ///< what to change in the operator
  std::string example;  ///< a real bug that the check or rule would have caught
  // These may be empty. Not every check can show its mistake in a few lines, and no rule can.
  std::string wrong = {};          ///< a few lines of code with the mistake, usually from a C++ kernel
  std::string right = {};          ///< the same lines without it
  std::string does_not_find = {};  ///< mistakes of this kind that pass, and calls that are not tried
  /// Python statements that show a broken promise of a check on `call` and `tensors`, by an AssertionError or
  /// by what they print, if plain torch can show it in the same way for every operator.
  std::string script = {};
};

/// The explanation of a native check or a rule. The build writes this function (cmake/embed_explanations.py).
/// Throws std::logic_error if there is none, which ends the program at its start: all checks and rules
/// register themselves then.
Explanation embedded_explanation(std::string_view id);

/// The check or rule with its explanation.
template <class Part>
Part explained(Part part) {
  part.explanation = embedded_explanation(part.name);
  return part;
}

}  // namespace opgate
