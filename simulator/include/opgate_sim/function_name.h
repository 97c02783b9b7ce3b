// Names of functions as readers search for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opgate::simulator {

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

}  // namespace opgate::simulator
