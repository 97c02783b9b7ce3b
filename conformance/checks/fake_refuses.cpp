// fake.refuses: arguments that the operator refuses whatever its tensors hold are refused by the fake kernel,
// too.
//
// A fake kernel sees sizes, strides, dtypes and numbers, and no elements. So the operator is asked again with
// tensors of zeros, and of ones: if it then accepts the call, or refuses it in other words, elements matter.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/fake_kernel.h"
#include "judging/fault.h"

namespace opgate::fake_refusal {
namespace {

bool is_seen_by_fakes(BadInput::Kind kind) {
  switch (kind) {
    case BadInput::Kind::shape:
    case BadInput::Kind::dtype:
    case BadInput::Kind::undefined:
    case BadInput::Kind::integer:
    case BadInput::Kind::number:
    case BadInput::Kind::list:
    case BadInput::Kind::text:
    case BadInput::Kind::flag:
    case BadInput::Kind::choice:
      return true;
    case BadInput::Kind::device:
    case BadInput::Kind::index:
    case BadInput::Kind::group:
    case BadInput::Kind::special:
      return false;
  }
  return false;
}

// Devices may differ in the dtypes that they take, and a fake kernel does not know for which one it answers.
bool is_taken_elsewhere(const CallKey& key, const Arguments& arguments) {
  return std::ranges::any_of(key.spec->dtypes, [&](const auto& of_device) {
    const auto& [device, dtypes] = of_device;
    return device != key.device && std::ranges::all_of(arguments.tensors, [&](const TensorInput& input) {
             return std::ranges::find(dtypes, input.tensor.scalar_type()) != dtypes.end();
           });
  });
}

bool can_be_filled(const TensorInput& input) {
  return !c10::isBitsType(input.tensor.scalar_type()) && input.tensor.scalar_type() != c10::kFloat4_e2m1fn_x2;
}

bool is_refused_whatever_tensors_hold(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const std::string& message = under_test.observed().outcome.raised->message;
  for (const int64_t element : {0, 1}) {
    const Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
    if (!std::ranges::all_of(arguments.tensors, can_be_filled)) return false;
    for (const TensorInput& input : arguments.tensors) input.tensor.fill_(element);
    const Outcome call = call_on(key, arguments.stack);
    if (call.ok() || call.raised->message != message) return false;
  }
  return true;
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Observation& call = under_test.observed();
  if (call.outcome.ok()) return Judgement::pass();
  const Rejection* rejection = key.spec->find_rejection(*key.sample);
  std::string what;
  if (rejection != nullptr) {
    what = fmt::format("`{}`", rejection->sample.name);
  } else {
    const BadInput bad = find_bad_input(key);
    if (!is_seen_by_fakes(bad.kind)) return Judgement::pass();
    if (bad.kind == BadInput::Kind::dtype && is_taken_elsewhere(key, call.arguments))
      return Judgement::pass();
    what = describe_bad_input(bad.text);
  }
  const Outcome& fake = under_test.fake();
  if (!fake.ok() || !is_refused_whatever_tensors_hold(under_test)) return Judgement::pass();
  return Judgement::fail(
      {fmt::format("where {}, the meta kernel refuses what the operator refuses", what),
       "the meta kernel accepts it; the operator raises: " + first_line(call.outcome.raised->message),
       "a check is in the real kernel alone; put it into a function that both call",
       {},
       {std::string(fault::kFake), ""}});
}

OPGATE_REGISTER_CHECK(fake_refuses, {.name = "fake.refuses",
                                     .worker = Worker::native,
                                     .scope = {.variants = Scope::Variants::bad,
                                               .dtypes = Scope::Dtypes::first,
                                               .promised = Promise::fake_refuses,
                                               .registered = true},
                                     .needs_fake = true,
                                     .obstacle = &fake_lives_in_python,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::fake_refusal
