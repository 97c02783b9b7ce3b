#include "call/called_operators.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "spec/schema/registered_name.h"

namespace opgate {
namespace {

thread_local std::set<std::string>* names_here = nullptr;

constexpr std::array<std::string_view, 4> kPyTorchs{"aten::", "prims::", "prim::", "profiler::"};

std::unique_ptr<at::ObserverContext> keep_name(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name || names_here == nullptr) return nullptr;
  const bool is_pytorchs =
      std::ranges::any_of(kPyTorchs, [&](std::string_view begin) { return name->name.starts_with(begin); });
  if (!is_pytorchs) names_here->insert(stable_name(c10::toString(*name)));
  return nullptr;
}

}  // namespace

CalledOperators::CalledOperators()
    : outer_(names_here),
      callback_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(&keep_name).scopes({at::RecordScope::FUNCTION}))) {
  names_here = &names_;
}

CalledOperators::~CalledOperators() {
  at::removeCallback(callback_);
  names_here = outer_;
}

}  // namespace opgate
