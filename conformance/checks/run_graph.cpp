// run.graph: captured into a CUDA graph and replayed with other values in the same tensors.
#include <algorithm>
#include <memory>

#include "call/cuda_services.h"
#include "call/process_state.h"
#include "checks/check.h"
#include "checks/elsewhere.h"
#include "checks/outputs.h"

namespace opgate::run_graph {
namespace {

constexpr uint64_t kCapturedSeries = 1;
constexpr uint64_t kReplayedSeries = 2;

// Replays the graph on the values of `values`; what it throws is in the outcome.
Outcome replay(Evidence& evidence, CapturedGraph& graph, const Arguments& arguments,
               const Arguments& values) {
  overwrite(arguments, values);
  if (evidence.key().spec->promised(Promise::draws_random)) seed_default_generator(evidence.key().device);
  return invoke(
      evidence.op(), [&](torch::jit::Stack&) { graph.replay(); }, {}, evidence.key().device);
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const CallKey& key = evidence.key();
  if (std::ranges::any_of(key.sample->arguments, [](const Argument& a) { return a.generator() != nullptr; }))
    return Judgement::owed("OpGate cannot yet capture a call that is given a generator");
  const std::string promised =
      "captured into a CUDA graph and replayed, the call computes eager's result from what the same tensors "
      "hold then";
  const Arguments arguments = other_values(evidence, kCapturedSeries);
  const Arguments others = other_values(evidence, kReplayedSeries);
  const Arguments values = materialise(key, evidence.bench().values, {.photographed = false});

  std::unique_ptr<CapturedGraph> graph;
  const auto capture = [&](torch::jit::Stack& stack) {
    const torch::jit::Stack given = stack;
    graph = cuda_services().capture([&] {
      stack = given;
      evidence.op().callBoxed(stack);
    });
  };
  const Outcome captured = invoke(evidence.op(), capture, arguments.stack, key.device);
  if (!captured.ok()) {
    return Judgement::fail({promised,
                            "the call cannot be captured: " + captured.raised->message,
                            "it waits for the device (.item(), .cpu(), a copy from pageable memory, a "
                            "synchronize), or calls what no graph can hold, such as cudaMalloc",
                            {}});
  }
  const std::string likely =
      "something did not become part of the graph: a launch on another stream, a value read on the host, or "
      "a pointer or parameter that was kept outside the graph, where a later call changed it";
  const Outcome first = replay(evidence, *graph, arguments, others);
  if (!first.ok()) return judge_elsewhere(evidence, first, promised, likely);
  // What the operator keeps from one call to the next is that of another call now.
  call_on(key, materialise(key, evidence.bench().values, {.photographed = false}).stack);
  const Outcome last = replay(evidence, *graph, arguments, values);
  return judge_elsewhere(evidence, last.ok() ? captured : last, promised, likely);
}

OPGATE_REGISTER_CHECK(
    run_graph,
    {.name = "run.graph",
     .explanation =
         {.promise =
              "Captured into a CUDA graph and replayed with other values in its inputs: eager's result.",
          .why = "Inference servers and torch.compile's reduce-overhead mode capture a model once and replay "
                 "it for every request. A replay repeats the launches of the capture, in the same memory, "
                 "and nothing that the host did in between. The call is captured on some values and replayed "
                 "twice on others, with an eager call in between.",
          .fix = "Launch on the current stream. Read no value of a tensor on the host. Give a kernel its "
                 "sizes, strides and pointers as arguments, not through a buffer that the host fills; "
                 "allocate workspaces with at::empty in each call.",
          .example = "flash-attention 1782, vllm 13632; the copies of shape and strides to the device in a "
                     "published identity_conv.",
          .wrong =
              R"(const float largest = x.abs().max().item<float>();  // waits, which no capture allows
divide<<<blocks, kThreads, 0, stream>>>(from, to, largest, x.numel());)",
          .right =
              R"(const at::Tensor largest = x.abs().max();  // stays on the device, where the kernel reads it
divide<<<blocks, kThreads, 0, stream>>>(from, to, largest.const_data_ptr<float>(), x.numel());)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .promised = Promise::capturable,
               .device = c10::kCUDA},
     .judge = &judge});

}  // namespace
}  // namespace opgate::run_graph
