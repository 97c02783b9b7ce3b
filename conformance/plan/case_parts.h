// The parts of the id of a case or a call, as text: for results that were read from a file.
#pragma once

#include <string_view>

namespace opgate {

/// The parts of a case id: OP/DTYPE/SAMPLE/VARIANT/DEVICE/CHECK, as views of its text.
struct CaseParts {
  std::string_view op, dtype, sample, variant, device, check;
  std::string_view call = {};  ///< the id of the call: all but the check
};

/// Split the id of a case, or of a call, which has no check. Throw SetupError for any other text.
CaseParts parts_of_case(std::string_view id);
CaseParts parts_of_call(std::string_view id);

}  // namespace opgate
