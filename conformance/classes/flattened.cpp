#include "classes/flattened.h"

#include <fmt/format.h>

#include <set>

namespace opgate {
namespace {

bool is_leaf(const c10::IValue& value) {
  return value.isNone() || value.isBool() || value.isInt() || value.isDouble() || value.isComplexDouble() ||
         value.isString() || value.isTensor();
}

// The type of the first part that is not a plain value; none if all parts are.
std::optional<std::string> foreign_part(const c10::IValue& value) {
  std::optional<std::string> found;
  value.visit([&](const c10::IValue& part) {
    const bool plain = is_leaf(part) || part.isList() || part.isTuple() || part.isGenericDict();
    if (!plain && !found) found = part.type()->repr_str();
    return !plain;
  });
  return found;
}

}  // namespace

std::optional<std::string> malformed(const c10::IValue& flattened) {
  if (!flattened.isTuple()) return fmt::format("it is no tuple but {}", flattened.type()->repr_str());
  std::set<std::string> names;
  const auto& pairs = flattened.toTupleRef().elements();
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].isTuple()) {
      return fmt::format("element {} is no (name, value) tuple but {}", i, pairs[i].type()->repr_str());
    }
    const auto& pair = pairs[i].toTupleRef().elements();
    if (pair.size() != 2 || !pair[0].isString()) {
      return fmt::format("element {} is no (name, value) tuple but {}", i, pairs[i].type()->repr_str());
    }
    const std::string& name = pair[0].toStringRef();
    if (!names.insert(name).second) return fmt::format("two values are named '{}'", name);
    if (const auto part = foreign_part(pair[1])) return fmt::format("'{}' holds {}", name, *part);
  }
  return std::nullopt;
}

}  // namespace opgate
