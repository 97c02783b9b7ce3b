#include "judging/layout_diagnosis.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "compare/comparison.h"
#include "inputs/variant.h"
#include "judging/output_judgement.h"

namespace opgate {
namespace {

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

// What the operator returns for contiguous input that holds what a mistaken kernel would read.
Outcome with_mistake(CallUnderTest& under_test, const TensorInput& input, const Geometry& misread) {
  Arguments arguments =
      materialize(under_test.key(), under_test.cache().values, {.contiguous = true, .take_snapshots = false});
  arguments.replace(input, input.tensor.as_strided(misread.sizes, misread.strides, misread.offset)
                               .clone(at::MemoryFormat::Contiguous));
  return invoke(under_test.op(), std::move(arguments.stack), under_test.key().device);
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

}  // namespace

LayoutDiagnosis diagnose_layout(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  const TensorInput* input = call.arguments.find(varied_argument(under_test.key().variant));
  if (input == nullptr || call.outcome.values().empty()) return {};
  for (const Mistake& mistake : kMistakes) {
    const Geometry misread = mistake.read(input->geometry);
    if (misread == input->geometry || misread.elements > input->geometry.elements) continue;
    const Outcome mistaken = with_mistake(under_test, *input, misread);
    if (!mistaken.ok() || judge_values(call.outcome.values(), mistaken.values(), {}).finding) continue;
    const std::string seen = fmt::format("`{}` {}", input->name, mistake.what);
    return {seen + first_source(call.outcome, under_test.dense().outcome, *input, misread), seen, true};
  }
  if (input->geometry.numel() > input->geometry.elements) {
    return {
        fmt::format(
            "`{}` has stride 0 and only {} elements of storage for {} values; a kernel that reads numel() "
            "elements in a row reads past its end",
            input->name, input->geometry.elements, input->geometry.numel()),
        "", false};
  }
  return {};
}

}  // namespace opgate
