#include "judging/calls/late_inputs.h"

#include <ATen/Context.h>
#include <ATen/ops/clone.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <optional>

#include "base/tensors_in.h"
#include "device/accelerator.h"
#include "device/simulator.h"
#include "judging/comparison/output_judgement.h"
#include "process/default_generator.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// Cycles of the GPU's clock: about 20 ms, which is longer than the host takes to make a call, and about
// half a second, for a host that is slow.
constexpr int64_t kDelays[] = {40'000'000, 1'000'000'000};
constexpr uint64_t kEarlyValueSeed = 3;

bool has_floating_values(const TensorInput& input) {
  return input.tensor.is_floating_point() || input.tensor.is_complex();
}

c10::IValue cloned(const c10::IValue& value) {
  return with_tensors(value,
                      [](const at::Tensor& tensor) { return tensor.defined() ? tensor.clone() : tensor; });
}

}  // namespace

Arguments other_values(CallUnderTest& under_test, uint64_t value_seed) {
  ValueCache& values = under_test.cache().values;
  Arguments others =
      materialize(under_test.key(), values, {.value_seed = value_seed, .take_snapshots = false});
  if (std::ranges::none_of(others.tensors, has_floating_values)) return others;
  const Arguments own = materialize(under_test.key(), values, {.take_snapshots = false});
  for (size_t i = 0; i < others.tensors.size(); ++i) {
    if (!has_floating_values(others.tensors[i])) others.tensors[i].tensor.copy_(own.tensors[i].tensor);
  }
  return others;
}

void overwrite(const Arguments& to, const Arguments& from) {
  for (size_t i = 0; i < to.tensors.size(); ++i) to.tensors[i].tensor.copy_(from.tensors[i].tensor);
}

namespace {

// `delayed`: the stream is kept busy before it gives the inputs their values.
Outcome call_on_late_inputs(CallUnderTest& under_test, c10::Stream stream, bool as_current, bool delayed) {
  const CallKey& key = under_test.key();
  const c10::impl::VirtualGuardImpl gpu(stream.device_type());
  const OrderedOperators in_order;
  Outcome outcome;
  for (const int64_t delay : kDelays) {
    std::optional<c10::StreamGuard> home(stream);
    const Arguments values = materialize(key, under_test.cache().values, {.take_snapshots = false});
    const Arguments arguments = other_values(under_test, kEarlyValueSeed);
    if (key.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(stream.device());
    gpu.synchronizeDevice(stream.device_index());
    if (delayed) accelerator(stream.device_type()).services().delay(delay);
    overwrite(arguments, values);
    if (!as_current) home.reset();
    bool waited_for = false;
    const auto call = [&](torch::jit::Stack& stack) {
      under_test.op().callBoxed(stack);
      waited_for = gpu.queryStream(stream);
      home.emplace(stream);
      for (c10::IValue& result : stack) result = cloned(result);
      gpu.synchronizeDevice(stream.device_index());
    };
    outcome = invoke(under_test.op(), call, arguments.stack, key.device);
    // Where the stream is idle after the call, the inputs may have been there in time: try a longer delay.
    if (!outcome.ok() || !waited_for || !delayed) break;
  }
  return outcome;
}

}  // namespace

Judgement judge_on_late_inputs(CallUnderTest& under_test, c10::Stream stream, bool as_current,
                               const std::function<Judgement(const Outcome&)>& judge) {
  Judgement judgement = judge(call_on_late_inputs(under_test, stream, as_current, true));
  if (judgement.verdict != Verdict::pass || !is_simulated()) return judgement;
  return judge(call_on_late_inputs(under_test, stream, as_current, false));
}

Judgement judge_like_eager(CallUnderTest& under_test, const Outcome& got, const std::string& promised,
                           const std::string& likely) {
  if (!got.ok()) return Judgement::fail({promised, "raised: " + got.raised->message, likely});
  const Spec& spec = *under_test.key().spec;
  Judgement judgement = judge_values(got.values(), under_test.observed().outcome.values(),
                                     {.unspecified = got.tensors_of(spec.unspecified)}, promised);
  if (!judgement.finding) return judgement;
  if (!spec.accuracy->exact && (spec.reference == nullptr || under_test.reference().ok())) {
    const Judgement near =
        spec.reference == nullptr
            ? judge_near_each_other(under_test.key(), got, under_test.observed().outcome, promised)
            : judge_near_reference(under_test, got, promised);
    if (near.verdict == Verdict::pass) return near;
  }
  judgement.finding->likely = likely;
  return judgement;
}

}  // namespace opgate
