// fake.metadata: the meta kernel foresees what the real one returns.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/fake.h"
#include "checks/outputs.h"

namespace opgate::fake_metadata {
namespace {

Judgement judge(Evidence& evidence) {
  const Outcome& real = evidence.observed().outcome;
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  if (auto owed = fake_lives_in_python(evidence.op())) return *std::move(owed);
  const Outcome& meta = evidence.by("meta").outcome;
  const std::string promised =
      "the meta kernel returns tensors of the real ones' shape, strides, storage offset and dtype";
  // Values, which the meta kernel does not see, may be the reason; or a layout, which is value.layout's
  // matter.
  if (!real.ok()) return Judgement::pass();
  if (!meta.ok() &&
      meta.raised->message.find("data-dependent shape. Meta Tensors don't support") != std::string::npos)
    return Judgement::owed(
        "the sizes of the result depend on values; fake.symbolic and opcheck look at such fake kernels");
  if (!meta.ok()) {
    return Judgement::fail({promised,
                            "the meta kernel raised: " + meta.raised->message,
                            "no meta kernel is registered (TORCH_LIBRARY_IMPL(..., Meta, m), register_fake "
                            "in Python), or it touches data, which a meta tensor does not have",
                            {}});
  }
  if (const auto difference = metadata_difference(meta, real)) {
    return Judgement::fail(
        {promised,
         "under the meta kernel " + *difference + ", as the real kernel returned",
         "write both with the same expression, such as at::empty_like(x) or the same as_strided",
         {}});
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    fake_metadata,
    {.name = "fake.metadata",
     .explanation =
         {.promise = "The fake (meta) kernel returns the shape, strides, storage offset and dtype that the "
                     "real one returns.",
          .why = "torch.compile, torch.export and AOTInductor never run your kernel while compiling: they "
                 "believe the fake one and generate code that reads your output through its strides. Wrong "
                 "strides are wrong values without an error.",
          .fix =
              "Allocate the output by the same expression in both kernels. at::empty_like(x) keeps the "
              "strides of a dense x, at::empty(x.sizes()) does not: do not use one here and the other there.",
          .example = "pytorch 182328, pytorch 149425, vllm 29014.",
          .wrong = R"(at::Tensor twice_cpu(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);  // with the strides of x, where it is dense
  return out.copy_(x).mul_(2);
}
at::Tensor twice_meta(const at::Tensor& x) {
  return at::empty_symint(x.sym_sizes(), x.options());  // row-major
})",
          .right =
              R"(at::Tensor output_for(const at::Tensor& x) { return at::empty_like(x); }  // for both
at::Tensor twice_cpu(const at::Tensor& x) {
  at::Tensor out = output_for(x);
  return out.copy_(x).mul_(2);
}
at::Tensor twice_meta(const at::Tensor& x) { return output_for(x); })"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::every},
     .judge = &judge});

}  // namespace
}  // namespace opgate::fake_metadata
