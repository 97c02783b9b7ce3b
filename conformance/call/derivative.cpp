#include "call/derivative.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "call/process_state.h"
#include "call/widen.h"
#include "compare/float_format.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

bool has_derivative(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

// PyTorch refuses tangents of tensors that overlap themselves, or are negated or conjugated lazily.
bool can_have_tangent(const TensorInput& input) {
  const at::Tensor& tensor = input.tensor;
  return !tensor.defined() ||
         (at::has_internal_overlap(tensor) == at::MemOverlap::No && !tensor.is_neg() && !tensor.is_conj());
}

/// Tensors with names, of which some require grad.
struct Leaves {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;

  void add(std::string name, const at::Tensor& tensor) {
    const bool known = std::ranges::any_of(tensors, [&](const at::Tensor& t) { return t.is_same(tensor); });
    if (known) return;  // two arguments that are one tensor have one gradient
    names.push_back(std::move(name));
    tensors.push_back(tensor);
  }
};

// A random gradient of the size, dtype and device of `output`; laid out so, where that layout applies to it.
at::Tensor random_gradient(const std::string& stream, const at::Tensor& output, const std::string& layout) {
  const c10::ScalarType dtype = output.scalar_type();
  const at::Tensor values = make_values({"uniform", {}}, stream_key(stream), output.sizes(), dtype);
  auto placed = find_placement(output.sizes(), layout);
  if (!placed || (placed->layout->suits != nullptr && !placed->layout->suits(dtype)))
    placed = find_placement(output.sizes(), kContiguous);
  return lay_out(values, placed->placement.geometry, output.device().type(), placed->placement.view);
}

std::vector<at::Tensor> widened_all(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> wide;
  for (const at::Tensor& tensor : tensors)
    wide.push_back(tensor.defined() ? widened(tensor.detach()).contiguous() : tensor);
  return wide;
}

/// The operator, or its reference, and what is asked of its derivative.
class Differentiation {
 public:
  Differentiation(const CallKey& key, const Asking& asking) : key_(key), asking_(asking) {
    found_.forward = asking.forward;
  }

  Derivative of_operator(ValueCache& values) && {
    Arguments arguments = materialise(key_, values, {.photographed = false});
    const bool dense = asking_.forward && !std::ranges::all_of(arguments.tensors, can_have_tangent);
    if (dense) arguments = materialise(key_, values, {.contiguous = true, .photographed = false});
    find_leaves(arguments);
    return run([&] { return call_on(key_, arguments.stack); });
  }

  Derivative of_reference(ValueCache& values, const Derivative& mine) && {
    Arguments arguments = materialise(key_, values, {.contiguous = true, .photographed = false});
    widen(arguments);
    find_leaves(arguments);
    found_.incoming = widened_all(mine.incoming);
    found_.incoming_second = widened_all(mine.incoming_second);
    const auto reference = [&](torch::jit::Stack& s) { key_.spec->reference(*key_.spec->op, s); };
    return run([&] { return invoke(*key_.spec->op, reference, arguments.stack, key_.device); });
  }

 private:
  // Arguments that are one tensor in the case stay one.
  void widen(Arguments& arguments) const {
    const std::vector<Placed> placed = arrange(key_);
    for (size_t i = 0; i < arguments.tensors.size(); ++i) {
      TensorInput& input = arguments.tensors[i];
      const bool another = placed[i].values != i && placed[i].storage != i;
      input.tensor = another ? arguments.tensors[placed[i].values].tensor : widened(nudged(input));
      arguments.replace(input, input.tensor);
    }
  }

  // By one part in 2^p, p the bits of the significand, up or down by turns of a random sequence.
  at::Tensor nudged(const TensorInput& input) const {
    if (!asking_.nudged || !input.tensor.is_floating_point()) return input.tensor;
    const double eps = ulp_at(1, *float_format(input.tensor.scalar_type()));
    const at::Tensor wide = widened(input.tensor);
    const at::Tensor turns =
        make_values({"uniform", {}}, stream_key("nudge " + input.name), wide.sizes(), c10::kDouble)
            .sign()
            .to(wide.device());
    return wide + wide * turns * eps;
  }

  void find_leaves(const Arguments& arguments) {
    for (const TensorInput& input : arguments.tensors) {
      if (!has_derivative(input.tensor) || is_mutable(*key_.spec, input.position)) continue;
      if (!asking_.inputs || asking_.inputs->contains(input.name)) leaves_.add(input.name, input.tensor);
    }
  }

  template <class Call>
  Derivative run(const Call& make) {
    return asking_.forward ? run_forward(make) : run_backward(make);
  }

  template <class Call>
  Derivative run_forward(const Call& make) {
    const ForwardMode mode;
    const std::vector<at::Tensor>& inputs = leaves_.tensors;
    if (found_.incoming.empty()) {
      for (size_t i = 0; i < inputs.size(); ++i)
        found_.incoming.push_back(
            random_gradient("tangent of " + leaves_.names[i], inputs[i], std::string(kContiguous)));
    }
    for (size_t i = 0; i < inputs.size(); ++i) mode.set_tangent(inputs[i], found_.incoming.at(i));
    const Outcome call = make();
    found_.call = call.raised;
    const std::vector<at::Tensor> results = call.values();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!has_derivative(results[i])) continue;
      const at::Tensor tangent = mode.tangent(results[i]);
      found_.exists = found_.exists || tangent.defined();
      found_.arrived.push_back({fmt::format("output {}", i), tangent.defined()
                                                                 ? tangent.detach().clone()
                                                                 : at::zeros_like(results[i].detach())});
    }
    return std::move(found_);
  }

  template <class Call>
  Derivative run_backward(const Call& make) {
    for (const at::Tensor& tensor : leaves_.tensors) tensor.set_requires_grad(true);
    const Outcome call = make();
    found_.call = call.raised;
    if (!call.ok()) return std::move(found_);
    // A reference may return what the operator writes.
    const std::vector<at::Tensor> returned = call.returned();
    const bool in_place_of_writes = !found_.incoming.empty() && returned.size() == found_.incoming.size();
    const std::vector<at::Tensor> results = in_place_of_writes ? returned : call.values();
    const auto differentiate = [&](torch::jit::Stack& s) { s = arriving(results); };
    const Outcome backward = invoke(*key_.spec->op, differentiate, {}, key_.device);
    found_.backward = backward.raised;
    for (size_t i = 0; i < backward.results.size(); ++i)
      found_.arrived.push_back({leaves_.names[i], backward.results[i].toTensor()});
    return std::move(found_);
  }

  // The gradients at the leaves, one each.
  torch::jit::Stack arriving(const std::vector<at::Tensor>& results) {
    if (found_.incoming.empty()) come_in(results);
    std::vector<at::Tensor> outputs, cotangents;
    const std::vector<at::Tensor> inputs = leaves_.tensors;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!has_derivative(results[i]) || !results[i].requires_grad()) continue;
      if (asking_.output && *asking_.output != i) continue;
      at::Tensor incoming = found_.incoming.at(i);
      if (asking_.order == Order::second) {
        incoming = incoming.detach().set_requires_grad(true);
        leaves_.add(fmt::format("the gradient of output {}", i), incoming);
      }
      outputs.push_back(results[i]);
      cotangents.push_back(std::move(incoming));
    }
    if (asking_.order == Order::first || outputs.empty()) return last(outputs, cotangents);

    const std::vector<at::Tensor> once = gradients(outputs, inputs, cotangents, Order::second);
    std::vector<at::Tensor> inner, outer;
    for (size_t i = 0; i < once.size(); ++i) {
      if (!once[i].defined() || !once[i].requires_grad()) continue;
      inner.push_back(once[i]);
      outer.push_back(found_.incoming_second.at(i));
    }
    return last(inner, outer);
  }

  void come_in(const std::vector<at::Tensor>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      at::Tensor& incoming = found_.incoming.emplace_back();
      if (!has_derivative(results[i])) continue;
      incoming = random_gradient(fmt::format("gradient of output {}", i), results[i], asking_.cotangents);
      if (asking_.dense) incoming = incoming.resolve_conj().resolve_neg().contiguous();
    }
    for (size_t i = 0; i < leaves_.tensors.size(); ++i) {
      found_.incoming_second.push_back(random_gradient(fmt::format("gradient of gradient {}", i),
                                                       leaves_.tensors[i], std::string(kContiguous)));
    }
  }

  torch::jit::Stack last(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& cotangents) {
    found_.exists = !outputs.empty();
    const std::vector<at::Tensor> arrived = outputs.empty() ? std::vector<at::Tensor>(leaves_.tensors.size())
                                                            : gradients(outputs, leaves_.tensors, cotangents);
    torch::jit::Stack stack;
    for (size_t i = 0; i < arrived.size(); ++i) {
      stack.emplace_back(arrived[i].defined() ? arrived[i].detach()
                                              : at::zeros_like(leaves_.tensors[i].detach()));
    }
    return stack;
  }

  const CallKey& key_;
  const Asking& asking_;
  Leaves leaves_;
  Derivative found_;
};

}  // namespace

Derivative derivative(const CallKey& key, ValueCache& values, const Asking& asking) {
  guard::install();
  const uint64_t first = guard::next_serial();
  Derivative result;
  {
    const GuardScope scope(kFirstPoison);
    const ProcessState state(key.device);
    result = Differentiation(key, asking).of_operator(values);
    if (!state.changes().empty() || state.drew_random_numbers()) state.restore();
  }
  result.damage = guard::take_damage_since(first);
  return result;
}

Derivative reference_derivative(const CallKey& key, ValueCache& values, const Asking& asking,
                                const Derivative& mine) {
  if (key.spec->promised(Promise::draws_random)) seed_default_generator(key.device);
  return Differentiation(key, asking).of_reference(values, mine);
}

std::vector<std::string> differentiable_inputs(const CallKey& key, ValueCache& values) {
  std::vector<std::string> names;
  for (const TensorInput& input : materialise(key, values, {.photographed = false}).tensors) {
    if (has_derivative(input.tensor) && !is_mutable(*key.spec, input.position)) names.push_back(input.name);
  }
  return names;
}

}  // namespace opgate
