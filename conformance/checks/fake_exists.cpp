// fake.exists: the operator has a fake (meta) kernel.
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/fake_kernel.h"
#include "spec/registration.h"

namespace opgate::fake_exists {
namespace {

Judgement judge(CallUnderTest& under_test) {
  if (!under_test.key().spec->lacks_fake && has_fake_kernel(under_test.op())) return Judgement::pass();
  if (auto owed = fake_lives_in_python(*under_test.key().spec)) return *std::move(owed);
  return Judgement::fail({"the operator has a fake kernel, for tensors without data",
                          "none is registered for Meta",
                          "register one in C++ with TORCH_LIBRARY_IMPL(..., Meta, m), which C++ programs see "
                          "too; or in Python with torch.library.register_fake, and "
                          "m.set_python_module(\"...\") in C++",
                          {}});
}

OPGATE_REGISTER_CHECK(
    fake_exists,
    {.name = "fake.exists",
     .explanation = {.promise = "A fake (meta) kernel exists.",
                     .why = "torch.compile, torch.export and AOTInductor trace without data. An operator "
                            "without a fake kernel ends the trace with an error, or breaks the graph there.",
                     .fix = "Register one that allocates the outputs by the same expressions as the real "
                            "kernel, and does nothing else.",
                     .example = "pytorch 182328: an operator that could not be exported.",
                     .wrong = R"(TORCH_LIBRARY(my_ops, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, CPU, m) { m.impl("twice", TORCH_FN(twice_cpu)); })",
                     .right = R"(at::Tensor twice_meta(const at::Tensor& x) { return at::empty_like(x); }
TORCH_LIBRARY(my_ops, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, CPU, m) { m.impl("twice", TORCH_FN(twice_cpu)); }
TORCH_LIBRARY_IMPL(my_ops, Meta, m) { m.impl("twice", TORCH_FN(twice_meta)); })"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first, .first_sample = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::fake_exists
