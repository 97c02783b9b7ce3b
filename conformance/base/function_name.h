// Names of functions as readers search for them. A header alone, because the simulator links nothing of
// OpGate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace opgate {

/// "twice<float>" of "void (anonymous namespace)::twice<float>(float const*, long) [clone .lto]". Parentheses
/// and spaces in the arguments of a template are part of the name.
inline std::string short_function_name(std::string name) {
  if (const size_t clone = name.find(" [clone"); clone != std::string::npos) name.resize(clone);
  if (const size_t clone = name.find("._omp_fn"); clone != std::string::npos) name.resize(clone);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && !std::string_view(name).substr(0, i).ends_with("operator"))
      name.resize(i);
  }
  // The result of a template comes before its name; "a function" is no template.
  if (!name.ends_with('>')) return name;
  depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

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
