#include "spec/schema/registered_name.h"

#include <utility>

namespace opgate {
namespace {

struct Names {
  BuiltNamespaces registered;  // by the stable name
  BuiltNamespaces stable;      // by the registered name
};

Names& names() {
  static Names all;
  return all;
}

// Of "space::op", or of a function "space.part:function".
std::string in_other_namespace(std::string_view name, const BuiltNamespaces& others) {
  const std::string_view space = name.substr(0, name.find_first_of(":."));
  const auto other = others.find(std::string(space));
  return (other == others.end() ? std::string(space) : other->second) +
         std::string(name.substr(space.size()));
}

}  // namespace

void set_built_namespaces(BuiltNamespaces namespaces) {
  names().stable.clear();
  for (const auto& [stable, registered] : namespaces) names().stable[registered] = stable;
  names().registered = std::move(namespaces);
}

std::string registered_name(std::string_view stable) {
  return in_other_namespace(stable, names().registered);
}

std::string stable_name(std::string_view registered) {
  return in_other_namespace(registered, names().stable);
}

}  // namespace opgate
