// The promises that a spec makes by name, beyond those that every operator makes by being one.
#pragma once

#include <set>
#include <string_view>

namespace opgate {

enum class Promise {
  deterministic,     ///< the same bits on every call with the same arguments
  layout_invariant,  ///< the same bits whatever the layout of the arguments; exact() says so too
  thread_invariant,  ///< the same bits with any number of intra-op threads
  batch_invariant,   ///< a row along dim 0 has the same bits whatever the other rows, and however many there
                     ///< are
  draws_random,      ///< draws from the generator it is given, or from the default one
  capturable,        ///< can be captured into a CUDA graph and replayed
  differentiable,    ///< has a derivative that autograd finds
  twice_differentiable,
  forward_differentiable,  ///< has a tangent (forward mode, torch.func.jvp) where an input has one
  vmappable,               ///< torch.func.vmap gives what the calls one by one do
  picklable,    ///< of classes: def_pickle; made by the engine, where the class has it or is exported
  flattenable,  ///< of classes: __obj_flatten__; likewise
};

using Promises = std::set<Promise>;

/// As it is written in a spec: "batch_invariant".
std::string_view to_string(Promise promise);

inline constexpr Promise deterministic = Promise::deterministic;
inline constexpr Promise layout_invariant = Promise::layout_invariant;
inline constexpr Promise thread_invariant = Promise::thread_invariant;
inline constexpr Promise batch_invariant = Promise::batch_invariant;
inline constexpr Promise draws_random = Promise::draws_random;
inline constexpr Promise capturable = Promise::capturable;
inline constexpr Promise differentiable = Promise::differentiable;
inline constexpr Promise twice_differentiable = Promise::twice_differentiable;
inline constexpr Promise forward_differentiable = Promise::forward_differentiable;
inline constexpr Promise vmappable = Promise::vmappable;

}  // namespace opgate
