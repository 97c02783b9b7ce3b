// value.alignment: dense arguments may begin at any multiple of their element's size.
#include <fmt/format.h>

#include "base/text.h"
#include "judging/causes/refused_layout.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate::value_alignment {
namespace {

constexpr size_t kAgain = 3;
constexpr int64_t kBytes = 64;  // the allocator's alignment: beyond it, addresses repeat

// `alive` gets the arguments of the call, so that the next one has memory of its own.
Judgement judge_offset(CallUnderTest& under_test, size_t position, int64_t elements,
                       std::vector<Arguments>& alive) {
  const CallKey& key = under_test.key();
  Arguments& arguments =
      alive.emplace_back(materialize(key, under_test.cache().values, {.take_snapshots = false}));
  const TensorInput& input = arguments.tensors[position];
  Geometry geometry = input.geometry;
  geometry.offset += elements;
  geometry.elements += elements;
  const int64_t bytes = elements * static_cast<int64_t>(input.tensor.element_size());
  arguments.replace(input, lay_out(input.tensor.cpu(), geometry, key.device));
  const Outcome call = call_on(key, arguments.stack);
  const std::string promised = fmt::format("the same result wherever the memory of `{}` begins", input.name);
  const std::string when =
      fmt::format("where `{}` begins {} bytes behind a multiple of {}", input.name, bytes, kBytes);
  const Fault fault{fault::kLayout, input.name.substr(0, input.name.find('['))};
  if (!call.ok()) {
    // Some kernels ask for an alignment, and say so.
    if (contains_ignoring_case(call.raised->message, "align")) return Judgement::pass();
    if (auto note = note_of_refused_layout(*key.spec, *call.raised)) return *std::move(note);
    return Judgement::fail(
        {promised, fmt::format("{}, the call raised: {}", when, call.raised->message), "", fault});
  }
  Judgement judgement = judge_same(under_test, call, under_test.observed().outcome,
                                   key.spec->same_bits_in_any_layout(), promised);
  if (!judgement.finding) return judgement;
  judgement.finding->happened = fmt::format("{}: {}", when, judgement.finding->happened);
  judgement.finding->fault.kind = fault.kind;
  judgement.finding->fault.about = fault.about;
  judgement.finding->likely =
      "a vectorized loop takes the address for a multiple of its vector, or counts the elements before the "
      "first such multiple wrongly";
  return judgement;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Arguments& arguments = under_test.observed().arguments;
  Judgement so_far = Judgement::pass();
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const TensorInput& input = arguments.tensors[i];
    if (may_change_metadata(*under_test.key().spec, input) || input.geometry.numel() == 0) continue;
    const auto width = static_cast<int64_t>(input.tensor.element_size());
    for (int64_t elements = 1; elements * width < kBytes; ++elements) {
      std::vector<Arguments> alive;
      Judgement judgement = judge_offset(under_test, i, elements, alive);
      if (judgement.verdict == Verdict::pass) {
        if (so_far.reason.empty()) so_far = std::move(judgement);
        continue;
      }
      for (size_t again = 0; again < kAgain; ++again) {
        if (judge_offset(under_test, i, elements, alive).verdict != Verdict::pass) continue;
        judgement.finding->likely = "the same call is right in other memory: something is kept by address";
        judgement.finding->fault = {fault::kKept, ""};
        break;
      }
      return judgement;
    }
  }
  return so_far;
}

OPGATE_REGISTER_CHECK(value_alignment, {.name = "value.alignment",
                                        .scope = {.variants = Scope::Variants::contiguous,
                                                  .dtypes = Scope::Dtypes::first,
                                                  .first_sample = true},
                                        .judge = &judge});

}  // namespace
}  // namespace opgate::value_alignment
