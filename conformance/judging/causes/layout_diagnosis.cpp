#include "judging/causes/layout_diagnosis.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <new>
#include <optional>

#include "compare/comparison.h"
#include "crashes/resumed_faults.h"
#include "inputs/larger_samples.h"
#include "inputs/variant.h"
#include "judging/comparison/output_judgement.h"
#include "memory/separated_rows.h"
#include "spec/spec.h"

namespace opgate {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 16;

struct Mistake {
  std::string_view what;
  Geometry (*read)(const Geometry& given);  ///< the geometry that the mistaken kernel sees
};

const std::array kMistakes{
    Mistake{"is read as if it were dense: its strides are ignored",
            [](const Geometry& g) { return geometry(g.sizes, dense_strides(g.sizes), g.offset); }},
    Mistake{"is read from the start of its storage: the storage offset is ignored",
            [](const Geometry& g) { return geometry(g.sizes, g.strides, 0); }},
    Mistake{
        "is read as if it were dense, from the start of its storage: strides and storage offset are ignored",
        [](const Geometry& g) { return geometry(g.sizes, dense_strides(g.sizes), 0); }},
};

// The values in contiguous order, at the start of a storage that also holds what a kernel reads which takes
// them for laid out as the input is.
at::Tensor dense_with_room(const at::Tensor& values, const Geometry& laid_out) {
  const at::Tensor storage = at::empty({values.numel() + laid_out.elements}, values.options());
  return storage.as_strided(values.sizes(), dense_strides(values.sizes())).copy_(values);
}

// What the operator returns for contiguous arguments, with this tensor as the input.
Outcome call_with(CallUnderTest& under_test, const TensorInput& input, const at::Tensor& tensor) {
  Arguments arguments =
      materialize(under_test.key(), under_test.cache().values, {.contiguous = true, .take_snapshots = false});
  arguments.replace(input, tensor);
  return invoke(under_test.op(), std::move(arguments.stack), under_test.key().device);
}

// What the operator returns for contiguous input that holds what a mistaken kernel would read.
Outcome with_mistake(CallUnderTest& under_test, const TensorInput& input, const Geometry& misread) {
  const at::Tensor read = input.tensor.as_strided(misread.sizes, misread.strides, misread.offset);
  return call_with(under_test, input, dense_with_room(read, input.geometry));
}

// Whether the operator returns what it would return with the mistake.
bool makes(const Mistake& mistake, CallUnderTest& under_test, const TensorInput& input) {
  const Geometry misread = mistake.read(input.geometry);
  if (misread == input.geometry || misread.elements > input.geometry.elements) return false;
  const Outcome mistaken = with_mistake(under_test, input, misread);
  return mistaken.ok() &&
         !judge_values(under_test.observed().outcome.values(), mistaken.values(), {}).finding;
}

// Sizes that no call of this process has had. Other checks make calls with fewer or with many more rows.
int64_t unseen_size() {
  static std::atomic<int64_t> size = 131;
  return size += 2;
}

enum class Before { nothing, dense_call };

// Whether the operator returns what the reference does with sizes for which it cannot have kept anything
// `before`. None if it takes no other sizes.
std::optional<bool> is_right_at_unseen_sizes(CallUnderTest& under_test, Before before) {
  const CallKey& key = under_test.key();
  for (const auto& [present, sample] :
       samples_with_size(*key.spec, *key.sample, unseen_size(), kMostElements)) {
    CallKey other = key;
    other.sample = &sample;
    WorkerCache cache = under_test.cache().with_values_of_its_own();
    CallUnderTest unseen(other, cache);
    if (before == Before::dense_call) static_cast<void>(unseen.dense());
    const Outcome& outcome = unseen.observed().outcome;
    if (!outcome.ok() || !unseen.reference().ok()) continue;
    return judge_near_reference(unseen, outcome, "").verdict == Verdict::pass;
  }
  return std::nullopt;
}

// Whether the operator makes the mistake only after a call with dense tensors of the same sizes: it keeps a
// plan with their strides, for instance. Without a reference, the dense call that the result is compared with
// would follow that plan, too.
bool keeps_by_sizes(CallUnderTest& under_test) {
  return under_test.key().spec->reference != nullptr &&
         is_right_at_unseen_sizes(under_test, Before::nothing) == true &&
         is_right_at_unseen_sizes(under_test, Before::dense_call) == false;
}

// "; element [0, 0, 1] of the result was computed from the gap after x[0, 0, 0]" where the first result has
// the sizes of the input; empty otherwise.
std::string first_source(const Outcome& got, const Outcome& want, const TensorInput& input,
                         const Geometry& misread) {
  const at::Tensor mine = got.values().front();
  if (mine.sizes() != input.tensor.sizes()) return "";
  const Comparison comparison = compare(mine, want.values().front(), exact());
  if (comparison.first < 0) return "";
  return fmt::format("; element {} of the result was computed from {}",
                     index_text(unravel(comparison.first, mine.sizes())),
                     describe_element(input.geometry, misread.storage_element(comparison.first), input.name));
}

// Where the operator touches memory between the rows of the input, which it must not read. It finds zeros
// there. As an integer, a zero may be a divisor or a step, with which the operator would not go on.
std::vector<std::string> misreading_calls(CallUnderTest& under_test, const TensorInput& input) try {
  const c10::ScalarType dtype = input.tensor.scalar_type();
  if (under_test.key().device != c10::kCPU || c10::isIntegralType(dtype, /*includeBool=*/true) ||
      input.tensor.numel() > kMostElements)
    return {};
  const std::optional<SeparatedRows> rows = separate_rows(input.tensor.contiguous());
  if (!rows) return {};
  const ResumedFaults faults(rows->begin, rows->bytes);
  static_cast<void>(call_with(under_test, input, rows->tensor));
  std::vector<std::string> calls;
  for (const StackFrame& frame : faults.first()) {
    if (!frame.is_of_torch()) calls.push_back(frame.text());
  }
  return calls;
} catch (const std::bad_alloc&) {  // the finding is worth more than its line
  return {};
}

}  // namespace

std::string mistake_of_kept_strides(std::string_view argument) {
  return fmt::format("what it keeps from an earlier call of the same sizes is used for other strides of `{}`",
                     argument);
}

LayoutDiagnosis diagnose_layout(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  const TensorInput* input = call.arguments.find(varied_argument(under_test.key().variant));
  if (input == nullptr || call.outcome.values().empty()) return {};
  for (const Mistake& mistake : kMistakes) {
    if (!makes(mistake, under_test, *input)) continue;
    if (keeps_by_sizes(under_test)) {
      return {
          .cause = fmt::format("a plan or a table is found again by sizes alone: in a first call with its "
                               "sizes, `{}` is read as it should be",
                               input->name),
          .mistake = mistake_of_kept_strides(input->name),
          .kept = true};
    }
    const std::string seen = fmt::format("`{}` {}", input->name, mistake.what);
    return {
        seen + first_source(call.outcome, under_test.dense().outcome, *input, mistake.read(input->geometry)),
        seen, true, false, misreading_calls(under_test, *input)};
  }
  if (input->geometry.numel() > input->geometry.elements) {
    return {fmt::format("`{}` has only {} elements of storage for {} values, which share them; a kernel that "
                        "reads numel() "
                        "elements in a row reads past its end",
                        input->name, input->geometry.elements, input->geometry.numel()),
            "", false};
  }
  return {};
}

}  // namespace opgate
