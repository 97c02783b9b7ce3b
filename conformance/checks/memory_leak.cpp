// memory.leak: after a call only its outputs stay allocated, over repeated calls.
#include <fmt/format.h>
#include <malloc.h>

#include "judging/check.h"
#include "judging/output_judgement.h"

namespace opgate::memory_leak {
namespace {

// The first calls may fill caches that are kept on purpose, those of malloc among them (seven freed blocks
// of each size count as used); memory that every later call adds to is a leak.
constexpr int kWarmUp = 12;
constexpr int kCounted = 8;

struct Growth {
  int calls = 0;      // calls that left memory behind
  size_t blocks = 0;  // blocks of tensor memory, over all calls
  size_t bytes = 0;
};

// Bytes that malloc has given out, with the large blocks that it maps one by one.
size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The owners of the tensor. Its Python object, which exists once Python has seen the tensor, does not count
// where nothing else holds that object.
size_t owners(const at::Tensor& tensor) {
  const bool has_lone_wrapper = tensor.unsafeGetTensorImpl()->pyobj_slot()->has_unique_reference();
  return tensor.use_count() - (has_lone_wrapper ? 1 : 0);
}

std::optional<Finding> kept_argument(const Arguments& arguments) {
  for (const TensorInput& input : arguments.tensors) {
    // An owner of the tensor itself does not own its storage, and an owner of a view does not own the
    // tensor.
    if (owners(input.tensor) == 1 && input.tensor.storage().use_count() == 1) continue;
    return Finding{"an operator keeps no argument after the call, once its outputs are gone",
                   fmt::format("`{}`, or a view of it, is still held by another owner", input.name),
                   "the tensor was put into a static variable or a cache; keep a copy of what is needed, or "
                   "nothing",
                   {}};
  }
  return std::nullopt;
}

std::optional<Finding> growing(const Growth& tensors, const Growth& heap) {
  const std::string promised = "after each call only its outputs stay allocated";
  if (tensors.calls == kCounted) {
    return Finding{
        promised,
        fmt::format("each of {} further calls left tensor memory behind: {} blocks, {} bytes in all",
                    kCounted, tensors.blocks, tensors.bytes),
        "tensors are kept in a static container or cache that grows, or are released without an owner",
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

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
  Growth tensors;
  Growth heap;
  for (int call = 0; call < kWarmUp + kCounted; ++call) {
    guard::release_freed();  // freed blocks that wait for reuse do not belong to the operator
    const uint64_t first = guard::next_serial();
    const size_t before = heap_bytes();
    static_cast<void>(call_on(key, arguments.stack));
    if (const auto& collect = under_test.cache().collect_garbage) collect(call == 0);
    const std::vector<Block> left = guard::alive_since(first);
    guard::release_freed();
    const size_t after = heap_bytes();
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

OPGATE_REGISTER_CHECK(memory_leak, {.name = "memory.leak",
                                    .worker = Worker::native,
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .dtypes = Scope::Dtypes::first,
                                              .device = Scope::Device::cpu},
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::memory_leak
