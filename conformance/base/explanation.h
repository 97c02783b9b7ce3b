// What `opgate explain` prints about a check, or about a rule of the gate.
#pragma once

#include <string>

namespace opgate {

struct Explanation {
  std::string promise;  ///< one line
  std::string why;      ///< why PyTorch's subsystems, or those who use the operator, rely on it
  std::string fix;      ///< what to change in the operator
  std::string example;  ///< a real bug that the check or rule would have caught
  // Optional, because not every check can show its mistake in a few lines, and no rule can.
  std::string wrong = {};  ///< a few lines of code with the mistake, usually from a C++ kernel
  std::string right = {};  ///< the same lines without it
};

}  // namespace opgate
