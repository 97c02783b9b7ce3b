// What `opgate explain` says of a check or of a rule of the gate.
#pragma once

#include <string>

namespace opgate {

struct Explanation {
  std::string promise;  ///< one line
  std::string why;      ///< why PyTorch's subsystems, or those who use the operator, rely on it
  std::string fix;      ///< what to change in the operator
  std::string example;  ///< a real bug that it would have caught
};

}  // namespace opgate
