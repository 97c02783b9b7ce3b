#include "spec/function_name.h"

#include <algorithm>
#include <cctype>

#include "spec/registered_name.h"

namespace opgate {

bool is_function(std::string_view subject) {
  return subject.find(':') != std::string_view::npos && subject.find("::") == std::string_view::npos;
}

std::string operator_of(std::string_view subject) {
  if (!is_function(subject)) return registered_name(subject);
  std::string name(subject);
  // The dispatcher's names are identifiers.
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return std::string(kFunctionNamespace) + "::" + name;
}

std::string with_name_of_operator(std::string_view schema) {
  const size_t end = schema.find('(');
  return operator_of(schema.substr(0, end)) + std::string(schema.substr(std::min(end, schema.size())));
}

}  // namespace opgate
