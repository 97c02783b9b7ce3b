// memory.leak: what is alive after a call is its outputs, and nothing else, over repeated calls.
#include <fmt/format.h>
#include <malloc.h>

#include "checks/check.h"
#include "checks/outputs.h"

namespace opgate::memory_leak {
namespace {

// The first calls may fill caches that are kept on purpose, those of malloc among them (seven freed blocks of
// each size count as used); what every later call adds to is a leak.
constexpr int kWarmUp = 12;
constexpr int kCounted = 8;

struct Growth {
  int calls = 0;      // that left something behind
  size_t blocks = 0;  // of tensor memory, by all of them
  size_t bytes = 0;
};

// Besides the Python object that stands for the tensor where Python has seen it, which nobody else holds.
size_t owners(const at::Tensor& tensor) {
  const bool has_lone_wrapper = tensor.unsafeGetTensorImpl()->pyobj_slot()->has_unique_reference();
  return tensor.use_count() - (has_lone_wrapper ? 1 : 0);
}

std::optional<Finding> kept_argument(const Arguments& arguments) {
  for (const TensorInput& input : arguments.tensors) {
    // Who keeps the tensor itself owns no storage, and who keeps a view of it owns no tensor.
    if (owners(input.tensor) == 1 && input.tensor.storage().use_count() == 1) continue;
    return Finding{"an operator keeps no argument after the call, once its outputs are gone",
                   fmt::format("`{}`, or a view of it, is still held by another owner", input.name),
                   "the tensor was put into a static or a cache: keep a copy of what is needed, or nothing",
                   {}};
  }
  return std::nullopt;
}

std::optional<Finding> growing(const Growth& tensors, const Growth& heap) {
  const std::string promised = "after each call its outputs are alive, and no more memory than before";
  if (tensors.calls == kCounted) {
    return Finding{
        promised,
        fmt::format("each of {} further calls left tensor memory behind: {} blocks, {} bytes in all",
                    kCounted, tensors.blocks, tensors.bytes),
        "a tensor is kept in a static container or cache that grows, or released without being owned",
        {}};
  }
  if (heap.calls == kCounted) {
    return Finding{
        promised,
        fmt::format("each of {} further calls left memory of new or malloc behind: {} bytes in all", kCounted,
                    heap.bytes),
        "new without delete, release() of a pointer, or a cache that grows with every call",
        {}};
  }
  return std::nullopt;
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const CallKey& key = evidence.key();
  Arguments arguments = materialise(key, evidence.bench().values, {.photographed = false});
  Growth tensors;
  Growth heap;
  for (int call = 0; call < kWarmUp + kCounted; ++call) {
    guard::release_freed();  // what waits to be used again is not the operator's
    const uint64_t first = guard::next_serial();
    const size_t before = mallinfo2().uordblks;
    static_cast<void>(call_on(key, arguments.stack));
    if (const auto& collect = evidence.bench().collect_garbage) collect();
    const std::vector<Block> left = guard::alive_since(first);
    guard::release_freed();
    const size_t after = mallinfo2().uordblks;
    if (call < kWarmUp) continue;
    if (!left.empty()) ++tensors.calls;
    tensors.blocks += left.size();
    for (const Block& block : left) tensors.bytes += block.bytes;
    if (after > before) ++heap.calls;
    heap.bytes += after > before ? after - before : 0;
  }
  arguments.stack.clear();
  if (auto finding = growing(tensors, heap)) return Judgement::fail(*std::move(finding));
  if (auto finding = kept_argument(arguments)) return Judgement::fail(*std::move(finding));
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    memory_leak,
    {.name = "memory.leak",
     .explanation =
         {.promise = "Allocations alive after a call are its outputs and nothing else, over repeated calls.",
          .why =
              "A training step calls the operator a million times. A workspace that is kept by each call, or "
              "an argument that is kept by a cache, ends the job after hours, with an error somewhere else.",
          .fix = "Let at::Tensor own every buffer. A cache has a key that repeats, and an end. Never keep an "
                 "argument: its owner believes that it can be freed or reused.",
          .example = "pytorch 191340: an operator that leaks a buffer on each call."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first, .device = c10::kCPU},
     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_leak
