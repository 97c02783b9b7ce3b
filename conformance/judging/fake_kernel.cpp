#include "judging/fake_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace opgate {

bool has_fake_kernel(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  return std::ranges::any_of(
      std::initializer_list<DispatchKey>{DispatchKey::Meta, DispatchKey::CompositeExplicitAutograd,
                                         DispatchKey::CompositeExplicitAutogradNonFunctional,
                                         DispatchKey::CompositeImplicitAutograd},
      [&](DispatchKey key) { return op.hasKernelForDispatchKey(key); });
}

std::optional<Judgement> fake_lives_in_python(const c10::OperatorHandle& op) {
  if (has_fake_kernel(op)) return std::nullopt;
  const auto stub = c10::Dispatcher::singleton().getPyStub(op.operator_name());
  if (!stub) return std::nullopt;
  return Judgement::owed(
      fmt::format("the fake kernel is registered by the Python module {}, which this worker does not load; "
                  "opcheck looks at it",
                  stub->first));
}

}  // namespace opgate
