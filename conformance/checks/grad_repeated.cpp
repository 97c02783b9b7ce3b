// grad.repeated: backward can run again over a retained graph, with the same gradients.
#include "judging/check.h"
#include "judging/gradient_judgement.h"
#include "judging/output_judgement.h"

namespace opgate::grad_repeated {
namespace {

constexpr auto kPromised = "backward runs a second time over a retained graph, and gives the same gradients";

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Differentiated once = differentiated(under_test, {}, kPromised);
  if (once.none) return *once.none;
  const Derivative again =
      derivative(under_test.key(), under_test.cache().values, DerivativeRequest{.repeated = true});
  if (again.backward) {
    return Judgement::fail(
        {kPromised,
         "the second time, it raised: " + again.backward->message,
         "the first backward has freed or moved what it saved; leave that to autograd, which frees it "
         "unless the graph is retained",
         {}});
  }
  Judgement judgement =
      judge_gradients(again, once.derivative, *under_test.key().spec,
                      gradient_tolerance(under_test, once.derivative), kPromised, "the second time");
  if (judgement.finding)
    judgement.finding->likely =
        "the first backward wrote into the incoming gradient, into a saved tensor, or into a buffer that it "
        "keeps";
  return judgement;
}

OPGATE_REGISTER_CHECK(
    grad_repeated,
    {.name = "grad.repeated",
     .explanation = {.promise = "Backward runs a second time over a retained graph, with the same gradients "
                                "for the same incoming "
                                "gradient.",
                     .why = "Losses that share a graph, gradients of each loss alone, "
                            "torch.autograd.gradcheck and checkpointing run "
                            "backward more than once. An incoming gradient belongs to autograd, which may "
                            "hand the same tensor to "
                            "other functions.",
                     .fix = "Allocate the gradient that you return, and write into nothing else. Do not free "
                            "or move saved tensors.",
                     .example = "A backward that scales its incoming gradient in place to save memory.",
                     .wrong = R"(static variable_list backward(AutogradContext* ctx, variable_list grads) {
  return {grads[0].mul_(ctx->saved_data["scale"].toDouble())};  // the tensor is not ours
})",
                     .right = R"(static variable_list backward(AutogradContext* ctx, variable_list grads) {
  return {grads[0].mul(ctx->saved_data["scale"].toDouble())};
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .dtypes = Scope::Dtypes::first,
               .promised = Promise::differentiable,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_repeated
