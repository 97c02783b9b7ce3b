#include "checks/fake.h"

#include <fmt/format.h>

namespace opgate {

std::optional<Judgement> fake_lives_in_python(const c10::OperatorHandle& op) {
  if (op.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta)) return std::nullopt;
  const auto stub = c10::Dispatcher::singleton().getPyStub(op.operator_name());
  if (!stub) return std::nullopt;
  return Judgement::owed(
      fmt::format("the fake kernel is registered by the Python module {}, which this worker does not load; "
                  "opcheck looks at it",
                  stub->first));
}

}  // namespace opgate
