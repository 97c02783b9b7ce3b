#include "spec/registration.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "base/json_fields.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// PyTorch gives tags no names in C++. The compiler has them: "... [with at::Tag tag =
// torch::headeronly::Tag::core]". It writes a value without a name as a cast, such as
// "(torch::headeronly::Tag)99".
template <at::Tag tag>
constexpr std::string_view tag_name() {
  constexpr std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::string_view scope = "Tag::";
  const auto at = signature.rfind(scope);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = signature.substr(at + scope.size());
  return rest.substr(0, rest.find_first_of(";]"));
}

constexpr size_t kTags = 64;  // more than there are

template <size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> all_tag_names(std::index_sequence<I...>) {
  return {tag_name<static_cast<at::Tag>(I)>()...};
}

constexpr auto kTagNames = all_tag_names(std::make_index_sequence<kTags>());

// The dispatcher gives the place of a registration in no other way: "CPU: registered at FILE:LINE :: SCHEMA".
std::vector<std::string> registering_files(const c10::OperatorHandle& op) {
  constexpr std::string_view kPlace = "registered at ";
  std::set<std::string> files;
  std::istringstream state(op.dumpState());
  for (std::string line; std::getline(state, line);) {
    const size_t place = line.find(kPlace);
    if (place == std::string::npos) continue;
    const std::string file = line.substr(place + kPlace.size(), line.find(" :: ") - place - kPlace.size());
    files.insert(file.substr(0, file.rfind(':')));
  }
  return {files.begin(), files.end()};
}

}  // namespace

bool has_fake_kernel(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  return std::ranges::any_of(
      std::initializer_list<DispatchKey>{DispatchKey::Meta, DispatchKey::CompositeExplicitAutograd,
                                         DispatchKey::CompositeExplicitAutogradNonFunctional,
                                         DispatchKey::CompositeImplicitAutograd},
      [&](DispatchKey key) { return op.hasKernelForDispatchKey(key); });
}

bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

OpRegistration registration_of(const c10::OperatorHandle& op) {
  OpRegistration found;
  for (uint16_t i = 1; i <= static_cast<uint16_t>(c10::DispatchKey::EndOfAliasKeys); ++i) {
    const auto key = static_cast<c10::DispatchKey>(i);
    if (op.hasKernelForDispatchKey(key)) found.kernels.emplace_back(c10::toString(key));
  }
  for (const at::Tag tag : op.getTags()) found.tags.emplace_back(kTagNames.at(static_cast<size_t>(tag)));
  std::ranges::sort(found.tags);
  found.fake = has_fake_kernel(op);
  found.files = registering_files(op);
  return found;
}

PythonKernels kernels_only_in_python(const OpRegistrations& with_python) {
  PythonKernels only;
  for (const auto& [name, there] : with_python) {
    const auto op = find_op(name);
    const std::vector<std::string> here = op ? registration_of(*op).kernels : std::vector<std::string>();
    for (const std::string& key : there.kernels) {
      if (std::ranges::find(here, key) == here.end()) only[name].push_back(key);
    }
  }
  return only;
}

OPGATE_JSON_FIELDS(OpRegistration, kernels, tags, fake, files)

}  // namespace opgate
