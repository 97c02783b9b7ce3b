#include "judging/calls/calls_of_new_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <vector>

#include "inputs/larger_samples.h"
#include "inputs/tensor_slots.h"
#include "inputs/variant.h"
#include "inputs/variant_text.h"
#include "judging/causes/layout_diagnosis.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"

namespace opgate {
namespace {

// Samples seldom have these sizes, and each is used for one sequence of calls alone.
constexpr std::array<int64_t, 8> kNewSizes{83, 89, 97, 101, 103, 107, 109, 113};
constexpr int64_t kMostElementsOfCall = int64_t{1} << 14;
constexpr std::array<std::string_view, 2> kLayouts{"transposed", "stepped"};

// For each tensor, one layout that it can have in this sample: "x=transposed".
std::vector<std::string> layouts_of(const Spec& spec, const Sample& sample) {
  std::vector<std::string> chosen;
  std::set<std::string> arguments;
  const std::vector<Variant> all = variants(spec, sample);
  for (const std::string_view layout : kLayouts) {
    for (const Variant& variant : all) {
      if (variant.kind != Variant::Kind::rearranged || arrangement_of(variant.text).layout != layout)
        continue;
      const std::string argument(varied_argument(variant.text));
      if (!argument.empty() && arguments.insert(argument).second) chosen.push_back(variant.text);
    }
  }
  return chosen;
}

// The calls of one sample, which nothing has called before.
class NewSizes {
 public:
  NewSizes(CallUnderTest& under_test, Sample sample)
      : spec_(*under_test.key().spec),
        sample_(std::move(sample)),
        key_(under_test.key()),
        cache_(under_test.cache().with_values_of_its_own()) {
    key_.sample = &sample_;
  }

  // The judgement of a call; none if the operator or the reference refuses it.
  std::optional<Judgement> call(const std::string& variant, const std::string& promised) {
    CallKey key = key_;
    key.variant = variant;
    // What is kept for an address is another mistake, so that no call gets the memory of an earlier one.
    CallUnderTest& called = alive_.emplace_back(key, cache_);
    const Outcome& outcome = called.observed().outcome;
    if (!outcome.ok() || !called.reference().ok()) return std::nullopt;
    return judge_near_reference(called, outcome, promised);
  }

  std::string sizes() const {
    std::vector<std::string> shapes;
    for (const TensorSlot& slot : tensor_slots(spec_, sample_))
      shapes.push_back(fmt::format("{}", fmt::join(slot.described->shape, "x")));
    return fmt::format("{}", fmt::join(shapes, ", "));
  }

 private:
  const Spec& spec_;
  Sample sample_;
  CallKey key_;
  WorkerCache cache_;
  std::deque<CallUnderTest> alive_;
};

bool is_right(const std::optional<Judgement>& judged) { return judged && judged->verdict == Verdict::pass; }
bool is_wrong(const std::optional<Judgement>& judged) {
  return judged && judged->verdict == Verdict::fail && judged->finding;
}

std::string in_words(const std::string& variant) {
  return variant == kContiguous ? "all arguments are contiguous" : describe_variant(variant);
}

// Whether the tensor has this size.
bool has_size(const Spec& spec, const Sample& sample, const std::string& argument, int64_t size) {
  return std::ranges::any_of(tensor_slots(spec, sample), [&](const TensorSlot& slot) {
    return slot.name == argument && std::ranges::count(slot.described->shape, size) > 0;
  });
}

struct ThreeCalls {
  std::string sizes;
  std::optional<Judgement> first, second, first_again;
};

// Calls with `size` instead of one of the argument's sizes, of which an operator may refuse some.
ThreeCalls calls_in_order(CallUnderTest& under_test, const std::string& argument, int64_t size,
                          const std::string& first, const std::string& second, const std::string& promised) {
  const CallKey& key = under_test.key();
  for (auto& [present, sample] : samples_with_size(*key.spec, *key.sample, size, kMostElementsOfCall)) {
    if (!has_size(*key.spec, *key.sample, argument, present)) continue;
    const std::vector<std::string> layouts = layouts_of(*key.spec, sample);
    if (std::ranges::count(layouts, first) + std::ranges::count(layouts, second) == 0) continue;
    NewSizes calls(under_test, sample);
    ThreeCalls made{calls.sizes(), calls.call(first, promised), {}, {}};
    if (!made.first) continue;
    made.second = calls.call(second, promised);
    made.first_again = calls.call(first, promised);
    return made;
  }
  return {};
}

Judgement first_call_differs(const ThreeCalls& calls, const std::string& variant) {
  Judgement judgement = *calls.first;
  Finding& finding = *judgement.finding;
  finding.happened =
      fmt::format("the first call with the sizes {}, where {}: {}; the same call made again is right",
                  calls.sizes, in_words(variant), finding.happened);
  finding.likely =
      "what is set up in the first call with new sizes changes its result: an autotuner runs the kernel "
      "several times on the caller's tensors (restore_value and reset_to_zero of triton.autotune name "
      "those), or a buffer is used before it is filled";
  finding.fault.kind = fault::kKept;
  finding.fault.about = fault::kFirstCall;
  finding.fault.cause = "the first call with new sizes gives another result than the next one";
  return judgement;
}

Judgement later_call_differs(const ThreeCalls& calls, const std::string& earlier, const std::string& later,
                             const std::string& argument) {
  Judgement judgement = *calls.second;
  Finding& finding = *judgement.finding;
  finding.happened = fmt::format(
      "the second of two calls with the sizes {}: {} after a call where {}, and {}; as the first call of its "
      "sizes it is right",
      calls.sizes, in_words(later), in_words(earlier), finding.happened);
  finding.likely = fmt::format(
      "what is kept from a call is found again by sizes alone: make the strides of `{}`, and all else that "
      "it depends on (storage offset, dtype, device, stream), a part of its key",
      argument);
  finding.fault.kind = fault::kKept;
  finding.fault.about = arrangement_of(argument + "=").arguments;
  finding.fault.cause = mistake_of_kept_strides(finding.fault.about);
  return judgement;
}

}  // namespace

std::optional<Judgement> judge_calls_of_new_sizes(CallUnderTest& under_test, const std::string& promised) {
  const CallKey& key = under_test.key();
  std::vector<std::string> layouts = layouts_of(*key.spec, *key.sample);
  layouts.resize(std::min(layouts.size(), kNewSizes.size() / 2));
  for (size_t i = 0; i < layouts.size(); ++i) {
    const std::string contiguous(kContiguous), &layout = layouts[i];
    const std::string argument(varied_argument(layout));
    const ThreeCalls dense_first =
        calls_in_order(under_test, argument, kNewSizes[2 * i], contiguous, layout, promised);
    const ThreeCalls layout_first =
        calls_in_order(under_test, argument, kNewSizes[2 * i + 1], layout, contiguous, promised);
    if (is_wrong(dense_first.first) && is_right(dense_first.first_again))
      return first_call_differs(dense_first, contiguous);
    if (is_wrong(dense_first.second) && is_right(layout_first.first))
      return later_call_differs(dense_first, contiguous, layout, argument);
    if (is_wrong(layout_first.second) && is_right(dense_first.first))
      return later_call_differs(layout_first, layout, contiguous, argument);
  }
  return std::nullopt;
}

}  // namespace opgate
