// A call and its derivative through autograd, in reverse or forward mode, for the operator and for its
// reference.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "call/observation.h"
#include "derivatives/autograd.h"
#include "layouts/layout.h"

namespace opgate {

/// Which derivative of a call is computed.
struct DerivativeRequest {
  /// The layout of the cotangents (incoming gradients), for outputs with sizes that it applies to.
  std::string cotangent_layout = std::string(kContiguous);
  std::optional<std::set<std::string>> inputs = {};  ///< inputs that require grad; none: all floating ones
  std::optional<size_t> output = {};  ///< the only output that gets a cotangent; none: every output
  bool dense = false;                 ///< replaces the cotangents by contiguous copies of the same values
  /// For the reference: moves each floating input up or down, at random, by an ulp of its dtype.
  bool perturbed = false;
  /// For the reference: the derivative, for the magnitudes of the cotangents, of the scale that an accuracy
  /// with `by_inputs` measures at: how large the terms are that a gradient is the sum of.
  bool of_scale = false;
  /// `second` differentiates the gradients once more, with respect to the inputs and the cotangents.
  Order order = Order::first;
  bool forward = false;  ///< forward mode: tangents of the results, for random tangents of the inputs
  /// The argument ("x", "xs[1]") or result ("output 1") that is changed in place between the call and its
  /// derivative; empty: none.
  std::string overwritten = "";
  /// For the operator: moves its inputs a little (move_inputs()) with this seed; 0: the sample's own values.
  int moved = 0;
  bool repeated =
      false;  ///< computes the gradients twice from one graph; those of the second time are returned
  /// What the operator is given in place of the tensors at which gradients arrive.
  enum class Given { leaves, copies, views } given = Given::leaves;
  bool in_another_thread = false;  ///< the gradients are computed there
  /// Arguments that the operator writes are differentiated, too: with regard to the values before the call.
  /// The operator is given copies of them, because a leaf that requires grad must not be written.
  bool written = false;
  std::optional<size_t> negated = {};  ///< the output whose cotangent is negated; none: no output
};

/// The gradient of one input or cotangent; in forward mode, the tangent of one output.
struct LeafGradient {
  std::string at;       ///< the input: "x", "xs[1]"; in second order also "the gradient of output 1"; in
                        ///< forward mode "output 0"
  at::Tensor gradient;  ///< zeros if autograd gave none
};

struct Derivative {
  std::optional<Raised> call;                ///< what the call itself raised
  std::optional<Raised> backward;            ///< what its derivative raised
  bool exists = false;                       ///< an output requires grad; for second order, a gradient;
                                             ///< in forward mode, an output has a tangent
  bool forward = false;                      ///< as in the request
  std::vector<LeafGradient> leaf_gradients;  ///< one for each leaf; in forward mode, for each output
  std::vector<at::Tensor> cotangents;        ///< one for each output, undefined where it can have none; in
                                             ///< forward mode, the tangent of each leaf
  /// The outputs whose cotangent the backward has written; `cotangents` holds what it was given.
  std::set<size_t> written_cotangents;
  std::set<size_t> differentiated_outputs;  ///< those that require grad, and so have a part in the gradients
  std::vector<at::Tensor> second_cotangents;  ///< one for each first-order gradient, for the second order
  std::vector<Damage> damage;                 ///< to red zones, by the call and its derivative

  bool ok() const { return exists && !call && !backward; }
};

/// The gradient at an input of the derivative that has one.
at::Tensor gradient_at(const Derivative& derivative, const std::string& input);

/// The derivative of the operator, for random cotangents (or tangents) whose values are the same for every
/// layout. Inputs of dtypes without derivatives are not differentiated, and those that the operator writes to
/// only where the request says so.
Derivative derivative(const CallKey& key, ValueCache& values, const DerivativeRequest& request = {});

/// The derivative of the reference on the same values, contiguous and widened to Double, for the cotangents
/// of `mine`.
Derivative reference_derivative(const CallKey& key, ValueCache& values, const DerivativeRequest& request,
                                const Derivative& mine);

/// The inputs of this call that can require grad, by name.
std::vector<std::string> differentiable_inputs(const CallKey& key, ValueCache& values);

}  // namespace opgate
