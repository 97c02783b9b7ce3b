// A call and its derivative through autograd: which inputs require grad, which gradients come in, and what
// arrives.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "call/gradients.h"
#include "call/observation.h"
#include "layouts/layout.h"

namespace opgate {

/// What is asked of a derivative.
struct Asking {
  std::string cotangents = std::string(kContiguous);  ///< their layout, where it applies to an output's sizes
  std::optional<std::set<std::string>> inputs = {};   ///< that require grad; every floating one
  std::optional<size_t> output = {};                  ///< the only one that has an incoming gradient
  bool dense = false;   ///< contiguous copies of incoming gradients of that layout
  bool nudged = false;  ///< of the reference: each floating input moved by an ulp of its dtype, up or down
  Order order = Order::first;  ///< second: of the gradients themselves, at inputs and incoming gradients
  bool forward = false;        ///< forward mode: tangents of the results, for random ones of the inputs
};

/// One gradient that arrived, or would have; or, in forward mode, one tangent.
struct Arrived {
  std::string at;       ///< the input: "x", "xs[1]"; in second order also "the gradient of output 1"; in
                        ///< forward mode "output 0"
  at::Tensor gradient;  ///< zeros where none arrived
};

struct Derivative {
  std::optional<Raised> call;               ///< the call itself raised
  std::optional<Raised> backward;           ///< its derivative did
  bool exists = false;                      ///< an output requires grad; in second order, a gradient does;
                                            ///< in forward mode, an output has a tangent
  bool forward = false;                     ///< as it was asked for
  std::vector<Arrived> arrived;             ///< at each input that was asked to require grad, or output
  std::vector<at::Tensor> incoming;         ///< of each output that can have one; or of each such input
  std::vector<at::Tensor> incoming_second;  ///< of each gradient, in second order
  std::vector<Damage> damage;               ///< to red zones, by the call and its derivative

  bool ok() const { return exists && !call && !backward; }
};

/// The operator's, with random incoming gradients (or tangents) that are the same for every layout. Inputs
/// that the operator writes, and those whose dtype has no derivative, have none.
Derivative derivative(const CallKey& key, ValueCache& values, const Asking& asking = {});

/// The reference's on the same values, contiguous and widened to Double, for the gradients that came in to
/// `mine`.
Derivative reference_derivative(const CallKey& key, ValueCache& values, const Asking& asking,
                                const Derivative& mine);

/// The inputs of this call that can require grad, by name.
std::vector<std::string> differentiable_inputs(const CallKey& key, ValueCache& values);

}  // namespace opgate
