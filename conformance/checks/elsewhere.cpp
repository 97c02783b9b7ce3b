#include "checks/elsewhere.h"

#include <ATen/Context.h>
#include <ATen/ops/clone.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "call/cuda_services.h"
#include "call/process_state.h"
#include "checks/outputs.h"

namespace opgate {
namespace {

// About 20 ms and half a second: longer than the host takes to make a call, and than it takes when it is
// slow.
constexpr int64_t kDelays[] = {40'000'000, 1'000'000'000};
constexpr uint64_t kEarlySeries = 3;

bool is_floating(const TensorInput& input) {
  return input.tensor.is_floating_point() || input.tensor.is_complex();
}

at::Tensor copied(const at::Tensor& tensor) { return tensor.defined() ? tensor.clone() : tensor; }

c10::IValue copied(const c10::IValue& value) {
  if (value.isTensor()) return copied(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(copied(tensor));
  return list;
}

// The default generator of `device` gets the seed that every call starts from.
void seed_like_any_call(c10::Device device) {
  seed_default_generator(device.type());
  const at::Generator first = at::globalContext().defaultGenerator(c10::Device(device.type(), 0));
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(first.current_seed());
}

}  // namespace

Arguments other_values(Evidence& evidence, uint64_t series) {
  ValueCache& values = evidence.bench().values;
  Arguments others = materialise(evidence.key(), values, {.stream = series, .photographed = false});
  if (std::ranges::none_of(others.tensors, is_floating)) return others;
  const Arguments own = materialise(evidence.key(), values, {.photographed = false});
  for (size_t i = 0; i < others.tensors.size(); ++i) {
    if (!is_floating(others.tensors[i])) others.tensors[i].tensor.copy_(own.tensors[i].tensor);
  }
  return others;
}

void overwrite(const Arguments& to, const Arguments& from) {
  for (size_t i = 0; i < to.tensors.size(); ++i) to.tensors[i].tensor.copy_(from.tensors[i].tensor);
}

Outcome call_on_late_inputs(Evidence& evidence, c10::Stream stream, bool as_current) {
  const CallKey& key = evidence.key();
  const c10::impl::VirtualGuardImpl gpu(stream.device_type());
  Outcome outcome;
  for (const int64_t delay : kDelays) {
    std::optional<c10::StreamGuard> home(stream);
    const Arguments values = materialise(key, evidence.bench().values, {.photographed = false});
    const Arguments arguments = other_values(evidence, kEarlySeries);
    if (key.spec->promised(Promise::draws_random)) seed_like_any_call(stream.device());
    gpu.synchronizeDevice(stream.device_index());
    cuda_services().delay(delay);
    overwrite(arguments, values);
    if (!as_current) home.reset();
    bool waited_for = false;
    const auto call = [&](torch::jit::Stack& stack) {
      evidence.op().callBoxed(stack);
      waited_for = gpu.queryStream(stream);
      home.emplace(stream);
      for (c10::IValue& result : stack) result = copied(result);
      gpu.synchronizeDevice(stream.device_index());
    };
    outcome = invoke(evidence.op(), call, arguments.stack, key.device);
    // Where nothing is left to wait for, the inputs were perhaps there in time: once more, with more time.
    if (!outcome.ok() || !waited_for) break;
  }
  return outcome;
}

Judgement judge_elsewhere(Evidence& evidence, const Outcome& got, const std::string& promised,
                          const std::string& likely) {
  if (!got.ok()) return Judgement::fail({promised, "raised: " + got.raised->message, likely, {}});
  const Spec& spec = *evidence.key().spec;
  Judgement judgement = judge_values(got.values(), evidence.observed().outcome.values(),
                                     {.promised = promised, .unspecified = spec.unspecified});
  if (!judgement.finding) return judgement;
  if (!spec.accuracy->exact && (spec.reference == nullptr || evidence.reference().ok())) {
    const Judgement near = spec.reference == nullptr
                               ? judge_near_each_other(spec, got, evidence.observed().outcome, promised)
                               : judge_near_reference(evidence, got, promised);
    if (near.verdict == Verdict::pass) return near;
  }
  judgement.finding->likely = likely;
  return judgement;
}

}  // namespace opgate
