// aoti.refuses: an AOTInductor package refuses inputs that it was not compiled for.
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include <functional>

#include "base/dtypes.h"
#include "base/text.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "packages/package_folder.h"

namespace opgate::aoti_refuses {
namespace {

// One way in which a tensor of a call differs from what the package was compiled for.
struct Wrong {
  std::string what;
  std::function<at::Tensor(const at::Tensor&)> make;
};

std::vector<Wrong> wrongs(const at::Tensor& tensor, bool sizes_are_open) {
  const c10::ScalarType other = tensor.scalar_type() == c10::kDouble ? c10::kFloat : c10::kDouble;
  std::vector<Wrong> wrongs{
      {fmt::format("dtype {} instead of {}", dtype_name(other), dtype_name(tensor.scalar_type())),
       [=](const at::Tensor& x) { return at::ones(x.sizes(), x.options().dtype(other)); }},
      // Not of size 1: the packages of torch 2.11 compare sizes dim by dim and do not count the dims, and a
      // tensor whose sizes are all 1 has the memory that the package expects.
      {"one dim more, of size 2",
       [](const at::Tensor& x) {
         auto sizes = x.sizes().vec();
         sizes.insert(sizes.begin(), 2);
         return at::ones(sizes, x.options());
       }},
      {"no data (on the meta device)", [](const at::Tensor& x) {
         return at::empty_strided(x.sizes(), x.strides(), x.options().device(c10::kMeta));
       }}};
  if (!sizes_are_open && tensor.dim() > 0) {
    wrongs.push_back({fmt::format("size {} instead of {} in dim 0", tensor.size(0) + 1, tensor.size(0)),
                      [](const at::Tensor& x) {
                        auto sizes = x.sizes().vec();
                        ++sizes[0];
                        return at::ones(sizes, x.options());
                      }});
  }
  return wrongs;
}

bool is_refused(Package& package, const Package::Tensors& inputs) {
  try {
    package.run(inputs);
    return false;
  } catch (const std::exception&) {  // any exception is a refusal: the caller learns of the mistake
    return true;
  }
}

Judgement judge(CallUnderTest& under_test) {
  const std::string promised = "the package refuses inputs that it was not compiled for";
  try {
    const std::string id = call_id(under_test.key());
    Package& package = under_test.packages().package_of(under_test.key().device, id);
    const Package::Tensors inputs = package.inputs();
    for (size_t call = 0; call < inputs.size(); ++call) {
      if (package.calls()[call].id != id) continue;
      for (size_t i = 0; i < inputs[call].size(); ++i) {
        for (const Wrong& wrong : wrongs(inputs[call][i], under_test.key().variant == "contiguous")) {
          Package::Tensors changed = inputs;
          changed[call][i] = wrong.make(inputs[call][i]);
          if (is_refused(package, changed)) continue;
          return Judgement::fail(
              {promised, fmt::format("tensor {} has {}, and the package ran without an error", i, wrong.what),
               "the package was loaded without AOTI_RUNTIME_CHECK_INPUTS=1"});
        }
      }
    }
    return Judgement::pass();
  } catch (const SetupError& error) {  // no package holds the call, or it cannot be loaded
    return judge_missing_package(under_test, promised, first_line(error.what()));
  }
}

OPGATE_REGISTER_CHECK(aoti_refuses, {.name = "aoti.refuses",
                                     .worker = Worker::aoti,
                                     .scope = {.ops = true,
                                               .models = true,
                                               .variants = Scope::Variants::packaged,
                                               .dtypes = Scope::Dtypes::first,
                                               .first_sample = true,
                                               .in_cpp = true,
                                               .over_torch = false},
                                     .needs_package = true,
                                     .needs_fake = true,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::aoti_refuses
