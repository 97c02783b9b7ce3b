// Names of functions as readers search for them.
#pragma once

#include <opgate_sim/function_name.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace opgate {

using simulator::short_function_name;

/// "five::scale" of "at::parallel_for<five::scale(at::Tensor const&)::{lambda(long, long)#1}>": the function
/// whose code a template of a header runs. Empty unless an argument of the template is a lambda.
inline std::string function_of_lambda(std::string_view name) {
  const size_t lambda = name.find("::{lambda(");
  if (lambda == std::string_view::npos || lambda == 0) return "";
  std::string_view before = name.substr(0, lambda);
  // The arguments of a template, or those before this one, end where a bracket stays open.
  int depth = 0;
  size_t begin = before.size();
  for (; begin > 0; --begin) {
    const char c = before[begin - 1];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (depth < 0 || (depth == 0 && c == ',')) break;
  }
  before.remove_prefix(begin);
  before.remove_prefix(std::min(before.find_first_not_of(' '), before.size()));
  return short_function_name(std::string(before));
}

}  // namespace opgate
