// memory.leak: after a call only its outputs stay allocated, over repeated calls.
#include <fmt/format.h>
#include <malloc.h>

#include <array>
#include <functional>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::memory_leak {
namespace {

// The first calls may fill caches that are kept on purpose; tensor memory that every later call adds to is a
// leak.
constexpr int kWarmUp = 12;
constexpr int kCounted = 8;
// malloc's own caches make the heap look larger by a few blocks at a time, and an operator may keep what its
// last hundred calls were about. What grows through all of these further calls is a leak; they are made only
// as long as it does.
constexpr std::array<int, 4> kFurtherCalls{16, 64, 128, 256};
// Half of the smallest block that malloc gives, because its caches may have the other half.
constexpr size_t kLeastBytesOfCall = 16;
// More needs no further calls, which could use up the memory.
constexpr size_t kManyBytes = size_t{1} << 20;

struct Growth {
  int calls = 0;      // calls that left tensor memory behind
  size_t blocks = 0;  // over all calls
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
                   "nothing"};
  }
  return std::nullopt;
}

constexpr auto kPromised = "after each call only its outputs stay allocated";

std::optional<Finding> growing_tensors(const Growth& tensors) {
  if (tensors.calls < kCounted) return std::nullopt;
  return Finding{
      kPromised,
      fmt::format("each of {} further calls left tensor memory behind: {} blocks, {} bytes in all", kCounted,
                  tensors.blocks, tensors.bytes),
      "tensors are kept in a static container or cache that grows, or are released without an owner"};
}

// Calls the operator more often for as long as the C heap grows.
std::optional<Finding> growing_heap(const std::function<void()>& call) {
  int calls = 0;
  size_t bytes = 0;
  for (const int further : kFurtherCalls) {
    const size_t before = heap_bytes();
    int made = 0;
    for (; made < further && (made < kCounted || heap_bytes() < before + kManyBytes); ++made) call();
    const size_t after = heap_bytes();
    if (after < before + made * kLeastBytesOfCall) return std::nullopt;
    calls += made;
    bytes += after - before;
    if (bytes > kManyBytes) break;
  }
  return Finding{
      kPromised,
      fmt::format(
          "{} further calls left {} bytes of new or malloc behind, {} a call, and there is no end to it",
          calls, bytes, bytes / calls),
      "new without delete, release() of a pointer, a string or a handle that its receiver must free, or a "
      "cache that grows with every call"};
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
  Growth tensors;
  std::vector<Block> left;
  const auto call = [&](bool first) {
    guard::release_freed();  // freed blocks that wait for reuse do not belong to the operator
    const uint64_t serial = guard::next_serial();
    static_cast<void>(call_on(key, arguments.stack));
    if (const auto& collect = under_test.cache().collect_garbage) collect(first);
    left = guard::alive_since(serial);
    guard::release_freed();
  };
  for (int i = 0; i < kWarmUp + kCounted; ++i) {
    call(i == 0);
    if (i < kWarmUp) continue;
    if (!left.empty()) ++tensors.calls;
    tensors.blocks += left.size();
    for (const Block& block : left) tensors.bytes += block.bytes;
  }
  if (auto finding = growing_tensors(tensors)) return Judgement::fail(*std::move(finding));
  if (auto finding = growing_heap([&] { call(false); })) return Judgement::fail(*std::move(finding));
  arguments.stack.clear();
  if (auto finding = kept_argument(arguments)) return Judgement::fail(*std::move(finding));
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(memory_leak, {.name = "memory.leak",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .dtypes = Scope::Dtypes::first,
                                              .device = Scope::Device::cpu},
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::memory_leak
