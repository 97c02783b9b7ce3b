// The kind of values that a tensor argument takes. A Domain has a name, so that it can be written into a
// package or a journal and read back: `uniform`, `uniform(0,1)`. The values come from a counter-based
// generator (values/counter.h). The functions that make them are in <opgate/domains.h>.
#pragma once

#include <string>
#include <vector>

namespace opgate {

struct Domain {
  std::string family;              ///< a name registered in values/, such as "uniform"
  std::vector<double> parameters;  ///< the family's parameters, such as {low, high}

  bool operator==(const Domain&) const = default;
};

/// "uniform" or "uniform(0,1)".
std::string to_string(const Domain& domain);

/// The inverse of to_string. Throws SpecError if the text names no registered family, or where a
/// parameter is not a number or their count is wrong.
Domain domain_from_string(const std::string& text);

}  // namespace opgate
