#include "call/layout_choices.h"

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "call/call_key.h"

namespace opgate {
namespace {

bool is_written(const Spec& spec, size_t position) {
  return spec.op && spec.op->schema().is_mutable({c10::SchemaArgType::input, position});
}

}  // namespace

std::vector<LayoutChoice> layout_choices(const Spec& spec, const Sample& sample) {
  std::vector<LayoutChoice> choices{
      {std::string(kContiguous), Registry<Layout>::instance().find(kContiguous)}};
  if (spec.kind == Spec::Kind::model) return choices;
  for (size_t i = 0; i < sample.arguments.size(); ++i) {
    const TensorArgument* tensor = sample.arguments[i].tensor();
    if (tensor == nullptr) continue;
    for (const auto& [layout, placement] : placements(tensor->shape)) {
      if (placement.name == kContiguous) continue;
      if (!layout->same_sizes && sample.tensor_count() > 1) continue;
      if (placement.geometry.overlaps() && is_written(spec, i)) continue;
      choices.push_back({fmt::format("{}={}", argument_name(spec, i), placement.name), layout});
    }
  }
  return choices;
}

}  // namespace opgate
