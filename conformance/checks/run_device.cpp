// run.device: results lie on the device of the arguments, and are right also where that device is not the
// current one.
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>

#include "compare/agreement.h"
#include "device/accelerator.h"
#include "judging/calls/late_inputs.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::run_device {
namespace {

// Where the results must lie: on the device that an argument names, or otherwise on that of the tensors,
// which is `inputs`. None if there are neither, and for a draft, whose device may mean something else.
std::optional<c10::Device> place_of_results(CallUnderTest& under_test, c10::Device inputs) {
  const Arguments& arguments = under_test.observed().arguments;
  const auto named = std::ranges::find_if(arguments.stack, &c10::IValue::isDevice);
  if (named == arguments.stack.end()) return arguments.tensors.empty() ? std::nullopt : std::optional(inputs);
  if (under_test.key().spec->draft) return std::nullopt;
  const c10::Device device = named->toDevice();
  if (device.is_cpu() || device.has_index()) return device;
  return c10::impl::VirtualGuardImpl(device.type()).getDevice();
}

// A draft does not say which results belong on the CPU, so that those which lie there count as meant.
bool lies_on_cpu(const std::vector<at::Tensor>& results, size_t position) {
  return position < results.size() && results[position].defined() && results[position].is_cpu();
}

// The index in the schema of the result that holds this tensor.
size_t schema_result(const Outcome& call, size_t position) {
  size_t index = 0;
  while (!call.tensors_of({index}).contains(position)) ++index;
  return index;
}

Finding misplaced(const Outcome& call, size_t position, c10::Device wanted) {
  const std::vector<at::Tensor> results = call.returned();
  const c10::Device found = results[position].device();
  const std::string name = output_name(position, results.size());
  const std::string happened = fmt::format("{} is on {}", name, found.str());
  if (wanted.is_cpu()) {
    return {fmt::format("{} on the CPU, as the spec says", name), happened,
            "it is made with the options of an argument"};
  }
  return {fmt::format("{} on the device of the arguments, {}", name, wanted.str()), happened,
          found.is_cpu()
              ? fmt::format("the output is made with options that are not an argument's, or copied to "
                            "the host; if it is meant to be there, say spec.on_cpu({})",
                            schema_result(call, position))
              : "the output is made with options that name no device"};
}

// A failure for the first result of a call on tensors of `inputs` that lies elsewhere.
std::optional<Judgement> judge_places(CallUnderTest& under_test, const Outcome& call, c10::Device inputs) {
  const std::optional<c10::Device> place = place_of_results(under_test, inputs);
  if (!place) return std::nullopt;
  const Spec& spec = *under_test.key().spec;
  const std::set<size_t> on_cpu = call.tensors_of(spec.on_cpu);
  const std::vector<at::Tensor> results = call.returned(),
                                usual_results = under_test.observed().outcome.returned();
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_meant = on_cpu.contains(i) || (spec.draft && lies_on_cpu(usual_results, i));
    const c10::Device wanted = is_meant ? c10::Device(c10::kCPU) : *place;
    if (results[i].defined() && results[i].device() != wanted)
      return Judgement::fail(misplaced(call, i, wanted));
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const c10::impl::VirtualGuardImpl gpu(under_test.key().device);
  const c10::Device current = gpu.getDevice();
  if (auto misplaced = judge_places(under_test, under_test.observed().outcome, current))
    return *std::move(misplaced);
  if (gpu.deviceCount() < 2) return Judgement::owed("this check needs two GPUs, and this machine has one");
  const c10::Device other(current.type(), current.index() == 0 ? 1 : 0);
  const std::string promised =
      fmt::format("the right result on {} while {} is the current device", other.str(), current.str());
  // A stream of the current device is no stream of the inputs' device; the default streams of all devices
  // have one handle.
  const c10::StreamGuard own(gpu.getStreamFromGlobalPool(current));
  return judge_on_late_inputs(under_test, gpu.getStream(other), false, [&](const Outcome& outcome) {
    if (auto misplaced = judge_places(under_test, outcome, other)) {
      misplaced->finding->promised = promised;
      return *std::move(misplaced);
    }
    return judge_like_eager(
        under_test, outcome, promised,
        fmt::format(
            "there is no {} on the device of the inputs: the kernel runs on the current device, on its "
            "stream",
            accelerator(current.type()).words().device_guard));
  });
}

OPGATE_REGISTER_CHECK(run_device, {.name = "run.device",
                                   .scope = {.variants = Scope::Variants::contiguous,
                                             .device = Scope::Device::accelerator},
                                   .revision = 2,
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::run_device
