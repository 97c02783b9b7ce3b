// run.graph: a call that is captured into a CUDA graph and replayed with other values in the same tensors
// gives eager's result.
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <opgate_sim/loaded.h>
#include "device/accelerator.h"
#include "device/simulator.h"
#include "inputs/larger_samples.h"
#include "judging/calls/late_inputs.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "process/default_generator.h"
#include "spec/spec.h"

namespace opgate::run_graph {
namespace {

constexpr uint64_t kCapturedSeries = 1;
constexpr uint64_t kReplayedSeries = 2;

// The operator left another stream or device current. A capture can be ended on its own stream only, and one
// that is not ended makes the device unusable.
class LeavesAnotherStream : public std::runtime_error {
 public:
  LeavesAnotherStream()
      : std::runtime_error("it leaves another stream current than the one on which it was called") {}
};

// Calls the operator; the stream that is current now is so afterwards, also if the operator raises.
void call_and_return_to_stream(const c10::OperatorHandle& op, torch::jit::Stack& stack,
                               c10::DeviceType device) {
  const c10::impl::VirtualGuardImpl gpu(device);
  const c10::Stream stream = gpu.getStream(gpu.getDevice());
  const c10::StreamGuard returns(stream);
  op.callBoxed(stack);
  if (gpu.getDevice() != stream.device() || gpu.getStream(stream.device()) != stream)
    throw LeavesAnotherStream();
}

// Replays the graph on the values of `values`; what it throws is in the outcome.
Outcome replay(CallUnderTest& under_test, CapturedGraph& graph, const Arguments& arguments,
               const Arguments& values) {
  overwrite(arguments, values);
  if (under_test.promised(Promise::nondeterministic_seeded)) seed_default_generator(under_test.key().device);
  return invoke(
      under_test.op(), [&](torch::jit::Stack&) { graph.replay(); }, {}, under_test.key().device);
}

// Samples with more elements; those of the spec where sizes cannot be chosen.
std::vector<Sample> other_samples(const CallKey& key) {
  constexpr int64_t kElements = int64_t{1} << 14;
  constexpr size_t kMost = 4;
  std::vector<Sample> samples = larger_samples(*key.spec, *key.sample, kElements);
  if (samples.empty()) samples.assign(key.spec->samples.begin(), key.spec->samples.end());
  samples.resize(std::min(samples.size(), kMost));
  return samples;
}

// Memory that the operator keeps from one call to the next is replaced where it is too small, although the
// graph has its address. Whether the operator is right for these samples is the matter of other checks.
void call_on_other_samples(CallUnderTest& under_test) {
  for (const Sample& sample : other_samples(under_test.key())) {
    CallKey other = under_test.key();
    other.sample = &sample;
    WorkerCache cache = under_test.cache().with_values_of_its_own();
    try {
      observe(other, cache.values, {.take_snapshots = false});
    } catch (const DeviceFailed&) {
      continue;
    } catch (const NotSimulated&) {
      continue;
    }
  }
}

// The first function that the simulated runtime has refused since the last time because a graph was captured;
// none if no device is simulated, or none was refused.
std::optional<std::string> take_refused_function() {
  static const auto take = OPGATE_SIMULATED(opgate_sim_take_refused_in_capture);
  std::array<char, 256> name{};
  if (take == nullptr || take(name.data(), name.size()) == 0) return std::nullopt;
  return name.data();
}

Finding cannot_be_captured(const std::string& promised, const Raised& raised, const AcceleratorWords& words) {
  const std::optional<std::string> function = take_refused_function();
  return {
      promised,
      function ? fmt::format("the call cannot be captured: it calls {}, which no capture allows", *function)
               : "the call cannot be captured: " + raised.message,
      fmt::format("it waits for the device (.item(), .cpu(), a copy from pageable memory, a synchronize), "
                  "or calls something that no graph can hold, such as {}",
                  words.allocation)};
}

std::optional<Obstacle> takes_generator(const CallKey& key) {
  if (std::ranges::none_of(key.sample->arguments, [](const Argument& a) { return a.generator() != nullptr; }))
    return std::nullopt;
  return Obstacle{Obstacle::Kind::unsupported, "OpGate cannot yet capture a call that is given a generator"};
}

// A draft has not promised that a graph can replace the call: only whether it can be captured at all is
// asked.
Judgement judge_graph(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const AcceleratorWords words = accelerator(key.device).words();
  const std::string promised = fmt::format(
      "captured into a {} and replayed, the call computes eager's result from what the same tensors hold "
      "then",
      words.graph);
  const Arguments arguments = other_values(under_test, kCapturedSeries);
  const Arguments others = other_values(under_test, kReplayedSeries);
  const Arguments values = materialize(key, under_test.cache().values, {.take_snapshots = false});

  std::unique_ptr<CapturedGraph> graph;
  bool leaves_another_stream = false;
  const auto capture = [&](torch::jit::Stack& stack) {
    const torch::jit::Stack given = stack;
    try {
      const OrderedOperators in_order;
      graph = accelerator(key.device).services().capture([&] {
        stack = given;
        call_and_return_to_stream(under_test.op(), stack, key.device);
      });
    } catch (const LeavesAnotherStream&) {
      leaves_another_stream = true;
      throw;
    }
  };
  take_refused_function();  // of former captures
  const Outcome captured = invoke(under_test.op(), capture, arguments.stack, key.device);
  if (!captured.ok()) {
    if (!leaves_another_stream) return Judgement::fail(cannot_be_captured(promised, *captured.raised, words));
    return Judgement::fail({promised,
                            "the call cannot be captured: " + captured.raised->message,
                            "set the current stream with a guard object, which restores it on every path",
                            {fault::kState, ""}});
  }
  if (!key.spec->promised(Promise::capturable)) return Judgement::pass();
  const std::string likely =
      "something did not become part of the graph: a launch on another stream, a value read on the host, or "
      "a pointer or parameter that was kept outside the graph, where a later call changed it";
  const Outcome first = replay(under_test, *graph, arguments, others);
  if (!first.ok()) return judge_like_eager(under_test, first, promised, likely);
  // These calls overwrite whatever the operator keeps from one call to the next.
  call_on_other_samples(under_test);
  call_on(key, materialize(key, under_test.cache().values, {.take_snapshots = false}).stack);
  try {
    const Outcome last = replay(under_test, *graph, arguments, values);
    return judge_like_eager(under_test, last.ok() ? captured : last, promised, likely);
  } catch (const DeviceFailed& failed) {
    return Judgement::fail(
        {promised, fmt::format("the second replay failed, after calls on larger tensors: {}", failed.what()),
         "a workspace that is kept from call to call was replaced when a larger input came, and the graph "
         "uses the memory that was freed then"});
  }
}

// What keeps the operator of a draft from being captured is good to know, and may be meant.
Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  Judgement judged = judge_graph(under_test);
  if (judged.verdict != Verdict::fail || under_test.promised(Promise::capturable)) return judged;
  judged.finding->likely +=
      ". Keep what kernels need on the device, and allocate with at::empty; if it is intended, nothing is "
      "wrong, and a spec that does not promise `capturable` asks nothing of it";
  return Judgement::note(*std::move(judged.finding));
}

OPGATE_REGISTER_CHECK(run_graph, {.name = "run.graph",
                                  .scope = {.variants = Scope::Variants::contiguous,
                                            .promised = Promise::capturable,
                                            .device = Scope::Device::accelerator},
                                  .obstacle = &takes_generator,
                                  .judge = &judge});

}  // namespace
}  // namespace opgate::run_graph
