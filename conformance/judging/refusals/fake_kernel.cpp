#include "judging/refusals/fake_kernel.h"

#include <fmt/format.h>

#include "spec/registration.h"
#include "spec/spec.h"

namespace opgate {

std::optional<Obstacle> fake_lives_in_python(const CallKey& key) {
  const auto in_python = [](std::string reason) {
    return Obstacle{Obstacle::Kind::fake_in_python, std::move(reason)};
  };
  const Spec& spec = *key.spec;
  const c10::OperatorHandle& op = spec.op.value();
  if (has_fake_kernel(op) && !spec.fake_in_python) return std::nullopt;
  if (spec.draft && op.hasTag(at::Tag::dynamic_output_shape)) {
    return in_python(
        "the sizes of the result depend on values, as the operator's tag says; Python knows fake kernels of "
        "such operators, and opcheck looks at them");
  }
  const auto stub = c10::Dispatcher::singleton().getPyStub(op.operator_name());
  if (!stub && spec.fake_in_python) {
    return in_python(
        "the fake kernel is registered in Python, which this worker does not load; opcheck looks at it");
  }
  if (!stub) return std::nullopt;
  return in_python(
      fmt::format("the fake kernel is registered by the Python module {}, which this worker does not load; "
                  "opcheck looks at it",
                  stub->first));
}

bool is_visible_to_fake_kernels(const BadInput& bad) {
  if (bad.damage.value == kHugeInteger) return false;
  switch (bad.kind) {
    case BadInput::Kind::shape:
    case BadInput::Kind::dtype:
    case BadInput::Kind::undefined:
    case BadInput::Kind::integer:
    case BadInput::Kind::number:
    case BadInput::Kind::list:
    case BadInput::Kind::text:
    case BadInput::Kind::flag:
    case BadInput::Kind::choice:
    case BadInput::Kind::absent:
      return true;
    case BadInput::Kind::device:
    case BadInput::Kind::index:
    case BadInput::Kind::group:
    case BadInput::Kind::special:
      return false;
  }
  return false;
}

}  // namespace opgate
