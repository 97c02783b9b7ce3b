// What an error message offers instead of a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// "there are: cpu, cuda, sim" where the names are few or none is like `word`; otherwise those that are most
/// like it: "similar of 487: row_sum, row_sums". `names` must not be empty.
std::string choices_for(std::string_view word, const std::vector<std::string>& names);

}  // namespace opgate
