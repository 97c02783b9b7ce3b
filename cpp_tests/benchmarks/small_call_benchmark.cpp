// Measures what a call with little data costs, part by part, on float32 tensors of 64x64: docs/ops.md says
// what follows. `opgate_benchmarks --benchmark_filter='^small call'` prints it; run nothing else meanwhile.
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/result_type.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <functional>
#include <string>

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Sum = Tensor(const Tensor&, const Tensor&);

// An operator that does nothing, with a wrapper for autograd and without. The result is none of the
// arguments, because autograd would make a view of these.
const Tensor& made_before() {
  static const Tensor result = at::rand({64, 64});
  return result;
}

Tensor nothing(const Tensor&, const Tensor&) { return made_before(); }

struct Recorded : torch::autograd::Function<Recorded> {
  static Tensor forward(AutogradContext* context, const Tensor&, const Tensor&) {
    context->set_materialize_grads(false);
    return made_before();
  }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {grads[0], grads[0]}; }
};

Tensor recorded(const Tensor& x, const Tensor& other) { return Recorded::apply(x, other); }

TORCH_LIBRARY(opgate_small_call, m) {
  m.def("plain(Tensor x, Tensor other) -> Tensor", &nothing);
  m.def("recorded(Tensor x, Tensor other) -> Tensor");
  m.impl("recorded", torch::dispatch(c10::DispatchKey::Autograd, &recorded));
}

c10::TypedOperatorHandle<Sum> sum(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Sum>();
}

void set_up_iterator(const Tensor& out, const Tensor& x, const Tensor& other) {
  at::TensorIteratorConfig config;
  config.add_output(out).resize_outputs(false).set_check_mem_overlap(false);
  config.promote_inputs_to_common_dtype(true).add_const_input(x).add_const_input(other);
  benchmark::DoNotOptimize(config.build());
}

void add(const std::string& name, std::function<void(const Tensor&, const Tensor&)> call,
         bool below_autograd) {
  benchmark::RegisterBenchmark(("small call/" + name).c_str(), [=](benchmark::State& state) {
    at::set_num_threads(1);
    const Tensor x = at::rand({64, 64}), other = at::rand({64, 64});
    std::optional<at::AutoDispatchBelowADInplaceOrView> below;
    if (below_autograd) below.emplace();
    for (auto _ : state) call(x, other);
  });
}

const bool registered = [] {
  add(
      "PyTorch's add", [](const Tensor& x, const Tensor& other) { at::add(x, other); }, false);
  add(
      "opgate_ops::add",
      [op = sum("opgate_ops::add", "Tensor")](const Tensor& x, const Tensor& other) { op.call(x, other); },
      false);
  add(
      "opgate_ops::add below autograd",
      [op = sum("opgate_ops::add", "Tensor")](const Tensor& x, const Tensor& other) { op.call(x, other); },
      true);
  add(
      "a pass through the dispatcher",
      [op = sum("opgate_small_call::plain")](const Tensor& x, const Tensor& other) { op.call(x, other); },
      true);
  add(
      "the same, and a Function for autograd",
      [op = sum("opgate_small_call::recorded")](const Tensor& x, const Tensor& other) { op.call(x, other); },
      false);
  add(
      "allocation of the result", [](const Tensor& x, const Tensor&) { at::empty_like(x); }, true);
  add(
      "promotion by at::result_type",
      [](const Tensor& x, const Tensor& other) { benchmark::DoNotOptimize(at::result_type(x, other)); },
      true);
  add(
      "set-up of TensorIterator", [](const Tensor& x, const Tensor& other) { set_up_iterator(other, x, x); },
      true);
  add(
      "three entries of saved_data",
      [](const Tensor& x, const Tensor&) {
        AutogradContext context;
        context.saved_data["x_sizes"] = x.sym_sizes().vec();
        context.saved_data["other_sizes"] = x.sym_sizes().vec();
        context.saved_data["x_dtype"] = x.scalar_type();
      },
      true);
  return true;
}();

}  // namespace
