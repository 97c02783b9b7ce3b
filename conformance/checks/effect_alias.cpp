// effect.alias: outputs share storage with inputs, and with each other, exactly as the schema says.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/outputs.h"

namespace opgate {
namespace {

bool share_storage(const at::Tensor& a, const at::Tensor& b) {
  return a.storage().nbytes() > 0 && a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
}

Judgement judge(Evidence& evidence) {
  const Observation& call = evidence.observed();
  const c10::FunctionSchema& schema = evidence.op().schema();
  size_t results = 0;
  for (size_t r = 0; r < call.outcome.results.size(); ++r) {
    if (call.outcome.results[r].isTensor()) ++results;
  }
  for (size_t r = 0; r < call.outcome.results.size(); ++r) {
    if (!call.outcome.results[r].isTensor()) continue;
    const at::Tensor output = call.outcome.results[r].toTensor();
    const std::string name = output_name(r, results);
    for (const TensorInput& input : call.arguments.tensors) {
      const bool may =
          schema.may_alias({c10::SchemaArgType::output, r}, {c10::SchemaArgType::input, input.position});
      const bool does = share_storage(output, input.tensor);
      if (does == may || input.before.empty()) continue;
      return Judgement::fail(
          {fmt::format("{} {} storage with `{}`: {}", name, may ? "shares" : "does not share", input.name,
                       c10::toString(schema)),
           does ? fmt::format("{} is `{}` itself or a view of it", name, input.name)
                : fmt::format("{} has a storage of its own", name),
           does ? fmt::format("the kernel returns its input on some path (when it is contiguous, or nothing "
                              "is to do): return "
                              "{}.clone() there; or declare the alias, Tensor(a) {}",
                              input.name, input.name)
                : "the schema declares an alias that this path does not make",
           {}});
    }
    for (size_t other = 0; other < r; ++other) {
      if (!call.outcome.results[other].isTensor()) continue;
      const bool may = schema.may_alias({c10::SchemaArgType::output, r}, {c10::SchemaArgType::output, other});
      if (share_storage(output, call.outcome.results[other].toTensor()) && !may) {
        return Judgement::fail({"each output has a storage of its own: " + c10::toString(schema),
                                fmt::format("outputs {} and {} share one", other, r),
                                "both are views of one workspace: clone one of them",
                                {}});
      }
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    effect_alias,
    {"effect.alias",
     {.promise = "Each output shares storage with inputs and other outputs exactly as the schema says.",
      .why = "torch.compile and functionalization plan memory by the schema: an undeclared alias is "
             "overwritten, or kept alive, "
             "behind the operator's back. Autograd refuses or silently detaches views it was not told of.",
      .fix = "Return fresh memory on every path; x.contiguous() returns x itself when it is contiguous "
             "already.\n"
             "  wrong:  return x.contiguous();\n  right:  return x.clone(at::MemoryFormat::Contiguous);",
      .example =
          "vllm 44130, pytorch 177170: an operator that returns its input when there is nothing to do."},
     Worker::native,
     {.layouts = Scope::Layouts::every},
     false,
     &judge});

}  // namespace
}  // namespace opgate
