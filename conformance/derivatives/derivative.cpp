#include "derivatives/derivative.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <numeric>

#include "compare/agreement.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "derivatives/moved_inputs.h"
#include "inputs/tensor_slots.h"
#include "inputs/variant.h"
#include "process/default_generator.h"
#include "process/process_state.h"
#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate {
namespace {

bool has_derivative(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

// PyTorch refuses tangents of tensors that overlap themselves or are lazily negated or conjugated.
bool can_have_tangent(const TensorInput& input) {
  const at::Tensor& tensor = input.tensor;
  return !tensor.defined() ||
         (at::has_internal_overlap(tensor) == at::MemOverlap::No && !tensor.is_neg() && !tensor.is_conj());
}

/// The tensors at which gradients arrive, with their names.
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

// A random cotangent with the sizes, dtype and device of `output`, in `layout` if that applies to the
// subject, the sizes and the dtype, otherwise contiguous.
at::Tensor random_gradient(const Spec& spec, const std::string& stream, const at::Tensor& output,
                           const std::string& layout) {
  const c10::ScalarType dtype = output.scalar_type();
  const at::Tensor values = make_values({"uniform", {}}, stream_key(stream), output.sizes(), dtype);
  auto placed = find_placement(output.sizes(), layout);
  if (!placed || !is_tried(placed->placement.view, spec) ||
      (placed->layout->accepts_dtype != nullptr && !placed->layout->accepts_dtype(dtype)))
    placed = find_placement(output.sizes(), kContiguous);
  return lay_out(values, placed->placement.geometry, output.device().type(), placed->placement.view);
}

std::vector<at::Tensor> widened_all(const std::vector<at::Tensor>& tensors, bool absolute) {
  std::vector<at::Tensor> wide;
  for (const at::Tensor& tensor : tensors)
    wide.push_back(tensor.defined() ? widened(tensor.detach(), absolute).cpu().contiguous() : tensor);
  return wide;
}

/// Differentiates one call of the operator, or of its reference, as the request says.
class Differentiation {
 public:
  Differentiation(const CallKey& key, const DerivativeRequest& request) : key_(key), request_(request) {
    found_.forward = request.forward;
  }

  Derivative of_operator(ValueCache& values) && {
    Arguments arguments = materialize(key_, values, {.take_snapshots = false});
    const bool dense = request_.forward && !std::ranges::all_of(arguments.tensors, can_have_tangent);
    if (dense) arguments = materialize(key_, values, {.contiguous = true, .take_snapshots = false});
    if (request_.moved != 0) move_inputs(key_, request_.moved, arguments);
    find_leaves(arguments);
    return run([&] {
      give_derived(arguments);
      return call_on(key_, arguments.stack);
    });
  }

  Derivative of_reference(ValueCache& values, const Derivative& mine) && {
    Arguments arguments = materialize(key_, values, {.contiguous = true, .take_snapshots = false});
    widen(arguments);
    find_leaves(arguments);
    found_.cotangents = widened_all(mine.cotangents, request_.of_scale);
    found_.second_cotangents = widened_all(mine.second_cotangents, request_.of_scale);
    const Spec& spec = *key_.spec;
    const Reference& function = request_.of_scale && spec.scale ? spec.scale : spec.reference;
    const auto reference = [&](torch::jit::Stack& s) { function(*spec.op, s); };
    return run([&] {
      give_derived(arguments);
      return invoke(*key_.spec->op, reference, arguments.stack, key_.device);
    });
  }

 private:
  // Widens each tensor; two arguments that are the same tensor in the case stay the same tensor.
  void widen(Arguments& arguments) const {
    const std::vector<TensorPlacement> placed = arrange(key_);
    const bool absolute = request_.of_scale && !key_.spec->scale;
    for (size_t i = 0; i < arguments.tensors.size(); ++i) {
      TensorInput& input = arguments.tensors[i];
      const bool another = placed[i].values != i && placed[i].storage != i;
      input.tensor =
          another ? arguments.tensors[placed[i].values].tensor : widened(perturbed(input), absolute);
      arguments.replace(input, input.tensor);
    }
  }

  // Each element is multiplied by 1 + eps or 1 - eps, chosen at random, where eps is the ulp of the dtype
  // at 1.
  at::Tensor perturbed(const TensorInput& input) const {
    if (!request_.perturbed || !input.tensor.is_floating_point()) return input.tensor;
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
      if (input.name == request_.overwritten) overwritten_ = input.tensor;
    }
    for (const TensorInput& input : arguments.tensors) {
      if (!is_differentiated(key_, input) && !is_written_leaf(input)) continue;
      if (!request_.inputs || request_.inputs->contains(input.name)) leaves_.add(input.name, input.tensor);
    }
  }

  bool is_written_leaf(const TensorInput& input) const {
    return request_.written && is_mutable(*key_.spec, input.position) && has_derivative(input.tensor);
  }

  // Gives the call tensors that are made of the leaves, once these require grad.
  void give_derived(Arguments& arguments) const {
    for (const TensorInput& input : arguments.tensors) {
      if (!input.tensor.defined() || !input.tensor.requires_grad()) continue;
      if (is_written_leaf(input) || request_.given == DerivativeRequest::Given::copies) {
        arguments.replace(input, input.tensor.clone());
      } else if (request_.given == DerivativeRequest::Given::views) {
        arguments.replace(input, input.tensor.view_as(input.tensor));
      }
    }
  }

  template <class Call>
  Derivative run(const Call& make) {
    return request_.forward ? run_forward(make) : run_backward(make);
  }

  template <class Call>
  Derivative run_forward(const Call& make) {
    const ForwardMode mode;
    const std::vector<at::Tensor>& inputs = leaves_.tensors;
    if (found_.cotangents.empty()) {
      for (size_t i = 0; i < inputs.size(); ++i)
        found_.cotangents.push_back(random_gradient(*key_.spec, "tangent of " + leaves_.names[i], inputs[i],
                                                    std::string(kContiguous)));
    }
    for (size_t i = 0; i < inputs.size(); ++i) mode.set_tangent(inputs[i], found_.cotangents.at(i));
    const Outcome call = make();
    found_.call = call.raised;
    const std::vector<at::Tensor> results = call.values();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!has_derivative(results[i])) continue;
      const at::Tensor tangent = mode.tangent(results[i]);
      found_.exists = found_.exists || tangent.defined();
      found_.leaf_gradients.push_back(
          {fmt::format("output {}", i),
           tangent.defined() ? tangent.detach().clone() : at::zeros_like(results[i].detach())});
    }
    return std::move(found_);
  }

  template <class Call>
  Derivative run_backward(const Call& make) {
    for (const at::Tensor& tensor : leaves_.tensors) tensor.set_requires_grad(true);
    const Outcome call = make();
    found_.call = call.raised;
    if (!call.ok()) return std::move(found_);
    // Where the operator writes to an argument, a reference may return the result instead.
    const std::vector<at::Tensor> returned = call.returned();
    const bool in_place_of_writes = !found_.cotangents.empty() && returned.size() == found_.cotangents.size();
    const std::vector<at::Tensor> results = in_place_of_writes ? returned : call.values();
    const auto differentiate = [&](torch::jit::Stack& s) {
      overwrite(results);
      s = arriving(results);
    };
    const auto run_here = [&] { return invoke(*key_.spec->op, differentiate, {}, key_.device); };
    const Outcome backward =
        request_.in_another_thread ? std::async(std::launch::async, run_here).get() : run_here();
    found_.backward = backward.raised;
    restore_cotangents();
    for (size_t i = 0; i < backward.results.size(); ++i)
      found_.leaf_gradients.push_back({leaves_.names[i], backward.results[i].toTensor()});
    return std::move(found_);
  }

  // An optimizer, or an activation in place, changes tensors like this.
  void overwrite(const std::vector<at::Tensor>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (request_.overwritten == fmt::format("output {}", i)) overwritten_ = results[i];
    }
    if (!overwritten_.defined()) return;
    const at::NoGradGuard without_gradients;
    if (has_derivative(overwritten_)) {
      overwritten_.neg_().add_(0.5);
    } else if (overwritten_.dim() > 0) {  // integers, which stay among those that the spec allows
      std::vector<int64_t> dims(static_cast<size_t>(overwritten_.dim()));
      std::iota(dims.begin(), dims.end(), 0);
      overwritten_.copy_(overwritten_.flip(dims));
    }
  }

  // Returns one gradient for each leaf.
  torch::jit::Stack arriving(const std::vector<at::Tensor>& results) {
    if (found_.cotangents.empty()) make_cotangents(results);
    std::vector<at::Tensor> outputs, cotangents;
    const std::vector<at::Tensor> inputs = leaves_.tensors;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!has_derivative(results[i]) || !results[i].requires_grad()) continue;
      if (request_.output && *request_.output != i) continue;
      at::Tensor incoming = found_.cotangents.at(i);
      if (request_.order == Order::second) {
        incoming = incoming.detach().set_requires_grad(true);
        leaves_.add(fmt::format("the gradient of output {}", i), incoming);
      }
      found_.differentiated_outputs.insert(i);
      outputs.push_back(results[i]);
      cotangents.push_back(std::move(incoming));
    }
    if (request_.order == Order::first || outputs.empty()) return last(outputs, cotangents);

    const std::vector<at::Tensor> once = gradients(outputs, inputs, cotangents, Order::second);
    std::vector<at::Tensor> inner, outer;
    for (size_t i = 0; i < once.size(); ++i) {
      if (!once[i].defined() || !once[i].requires_grad()) continue;
      inner.push_back(once[i]);
      outer.push_back(found_.second_cotangents.at(i));
    }
    return last(inner, outer);
  }

  void make_cotangents(const std::vector<at::Tensor>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      at::Tensor& incoming = found_.cotangents.emplace_back();
      if (!has_derivative(results[i])) continue;
      incoming = random_gradient(*key_.spec, fmt::format("gradient of output {}", i), results[i],
                                 request_.cotangent_layout);
      if (request_.dense) incoming = incoming.resolve_conj().resolve_neg().contiguous();
      if (request_.negated == i) incoming.neg_();
    }
    for (const at::Tensor& incoming : found_.cotangents)
      given_.push_back(incoming.defined() ? incoming.clone() : incoming);
    for (size_t i = 0; i < leaves_.tensors.size(); ++i) {
      found_.second_cotangents.push_back(random_gradient(*key_.spec,
                                                         fmt::format("gradient of gradient {}", i),
                                                         leaves_.tensors[i], std::string(kContiguous)));
    }
  }

  // The gradients are those for the cotangents that the backward was given, whatever it has made of them.
  void restore_cotangents() {
    for (size_t i = 0; i < given_.size(); ++i) {
      if (!given_[i].defined() || digest({given_[i]}) == digest({found_.cotangents[i]})) continue;
      found_.written_cotangents.insert(i);
      found_.cotangents[i] = given_[i];
    }
  }

  torch::jit::Stack last(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& cotangents) {
    found_.exists = !outputs.empty();
    if (request_.repeated && !outputs.empty())
      static_cast<void>(gradients(outputs, leaves_.tensors, cotangents));
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
  const DerivativeRequest& request_;
  Leaves leaves_;
  at::Tensor overwritten_;
  std::vector<at::Tensor> given_;  // copies of the cotangents that were made for the operator
  Derivative found_;
};

}  // namespace

at::Tensor gradient_at(const Derivative& derivative, const std::string& input) {
  return std::ranges::find(derivative.leaf_gradients, input, &LeafGradient::at)->gradient;
}

Derivative derivative(const CallKey& key, ValueCache& values, const DerivativeRequest& request) {
  guard::install();
  const uint64_t first = guard::next_serial();
  Derivative result;
  {
    const GuardScope scope(kFirstPoison);
    const ProcessState state(key.device, ProcessState::Extent::without_signals);
    result = Differentiation(key, request).of_operator(values);
    if (!state.changes().empty() || state.drew_random_numbers()) state.restore();
  }
  result.damage = guard::take_damage_since(first);
  return result;
}

Derivative reference_derivative(const CallKey& key, ValueCache& values, const DerivativeRequest& request,
                                const Derivative& mine) {
  if (key.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(c10::kCPU);
  return Differentiation(on_cpu(key), request).of_reference(values, mine);
}

std::vector<std::string> differentiable_inputs(const CallKey& key, ValueCache& values) {
  std::vector<std::string> names;
  for (const TensorInput& input : materialize(key, values, {.take_snapshots = false}).tensors) {
    if (is_differentiated(key, input)) names.push_back(input.name);
  }
  return names;
}

}  // namespace opgate
