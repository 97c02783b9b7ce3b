#include "spec/schema/function_name.h"

#include <cctype>

#include "spec/schema/registered_name.h"

namespace opgate {

bool is_function(std::string_view subject) {
  return subject.find(':') != std::string_view::npos && subject.find("::") == std::string_view::npos;
}

bool is_method_of_new_object(std::string_view subject) {
  return is_function(subject) && subject.find("().") != std::string_view::npos;
}

std::string operator_of(std::string_view subject) {
  if (!is_function(subject)) return registered_name(subject);
  std::string name(subject);
  // The dispatcher's names are identifiers.
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return std::string(kFunctionNamespace) + "::" + name;
}

std::string_view name_in_schema(std::string_view schema) {
  const size_t object = schema.find("().");
  return schema.substr(0, schema.find('(', object == std::string_view::npos ? 0 : object + 2));
}

std::string with_name_of_operator(std::string_view schema) {
  const std::string_view name = name_in_schema(schema);
  return operator_of(name) + std::string(schema.substr(name.size()));
}

}  // namespace opgate
