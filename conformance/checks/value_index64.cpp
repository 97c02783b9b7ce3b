// value.index64: elements that lie beyond 2^31 and 2^32 elements of a storage are reached.
#include <fmt/format.h>

#include "judging/causes/refused_layout.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "layouts/layout.h"
#include "memory/far_storage.h"
#include "spec/spec.h"

namespace opgate::value_index64 {
namespace {

constexpr size_t kAgain = 3;

struct Far {
  std::string_view how;
  Geometry (*geometry)(c10::IntArrayRef sizes, int64_t elements);
  int bits;  ///< the last element lies beyond 2^bits elements
  std::string_view
      near;  ///< the layout that differs from contiguous in the same way and lies in little memory
};

// An unsigned index wraps around at 2^32.
constexpr std::array<Far, 4> kFar{
    Far{"a stride", &far_strided, 31, "stepped"}, Far{"a storage offset", &far_offset, 31, "offset"},
    Far{"a stride", &far_strided, 32, "stepped"}, Far{"a storage offset", &far_offset, 32, "offset"}};

// Whether the operator is wrong for a tensor in little memory that is laid out in the same way: then the
// width of its integers is not the reason.
bool is_wrong_nearby(CallUnderTest& under_test, const TensorInput& input, const Far& far) {
  if (!find_placement(input.geometry.sizes, far.near)) return false;
  CallKey key = under_test.key();
  key.variant = fmt::format("{}={}", input.name, far.near);
  CallUnderTest nearby(key, under_test.cache());
  const Outcome& call = nearby.observed().outcome;
  const Outcome& dense = nearby.dense().outcome;
  if (!dense.ok()) return false;
  return !call.ok() || judge_same(nearby, call, dense, key.spec->same_bits_in_any_layout(), "").finding;
}

// The call with one input far in its storage. A pass has a note where the input is refused in words. `alive`
// gets the tensor, so that the next call has memory of its own.
Judgement judge_far(CallUnderTest& under_test, size_t position, const Far& far,
                    std::vector<at::Tensor>& alive) {
  const CallKey& key = under_test.key();
  Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
  const TensorInput& input = arguments.tensors[position];
  if (input.tensor.numel() == 0) return Judgement::pass();
  const at::Tensor tensor = alive.emplace_back(
      far_tensor(far.geometry(input.geometry.sizes, int64_t{1} << far.bits), input.tensor.scalar_type()));
  tensor.copy_(input.tensor);
  arguments.replace(input, tensor);
  const Outcome call = call_on(key, arguments.stack);
  const std::string promised = fmt::format(
      "the same result where the elements of `{}` lie beyond 2^{} elements of its storage, because of {}",
      input.name, far.bits, far.how);
  if (call.ok()) {
    return judge_same(under_test, call, under_test.observed().outcome, key.spec->same_bits_in_any_layout(),
                      promised);
  }
  if (key.spec->wants_contiguous.contains(argument_name(*key.spec, input.position))) return Judgement::pass();
  if (auto refused = note_of_refused_layout(*key.spec, *call.raised)) return *std::move(refused);
  return Judgement::fail({promised, "raised: " + call.raised->message});
}

// Says what the reason of a finding is, if not the width of an integer. False if it is the width.
bool has_another_reason(CallUnderTest& under_test, size_t position, const Far& far, Finding& finding,
                        std::vector<at::Tensor>& alive) {
  const TensorInput& input = under_test.observed().arguments.tensors[position];
  if (is_wrong_nearby(under_test, input, far)) {
    finding.likely = fmt::format(
        "not the width of an integer: the result is wrong in little memory, too, where `{}` is {}",
        input.name, far.near);
    finding.fault = {fault::kLayout, input.name.substr(0, input.name.find('['))};
    return true;
  }
  for (size_t again = 0; again < kAgain; ++again) {
    if (judge_far(under_test, position, far, alive).verdict != Verdict::pass) continue;
    finding.likely = "the same call is right in other memory: something is kept by address";
    finding.fault = {fault::kKept, ""};
    return true;
  }
  return false;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const size_t tensors = tensor_slots(*key.spec, *key.sample).size();
  Judgement other = Judgement::pass();  // a note, or a finding with another reason
  for (size_t i = 0; i < tensors; ++i) {
    for (const Far& far : kFar) {
      std::vector<at::Tensor> alive;
      Judgement judgement = judge_far(under_test, i, far, alive);
      if (judgement.verdict == Verdict::pass) {
        const bool is_note = judgement.finding || !judgement.reason.empty();
        if (is_note && !other.finding) other = std::move(judgement);
        continue;
      }
      if (judgement.finding && has_another_reason(under_test, i, far, *judgement.finding, alive)) {
        other = std::move(judgement);
        continue;
      }
      if (judgement.finding)
        judgement.finding->likely =
            "an offset is computed in 32 bits: use int64_t, or let TensorIterator split";
      return judgement;
    }
  }
  return other;
}

OPGATE_REGISTER_CHECK(value_index64, {.name = "value.index64",
                                      .scope = {.variants = Scope::Variants::contiguous,
                                                .dtypes = Scope::Dtypes::first,
                                                .first_sample = true,
                                                .device = Scope::Device::cpu},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::value_index64
