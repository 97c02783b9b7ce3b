// The promises that a spec makes by name, in addition to those that every operator makes.
#pragma once

#include <set>
#include <string_view>

namespace opgate {

enum class Promise {
  deterministic,     ///< the same bits on every call with the same arguments
  layout_invariant,  ///< the same bits whatever the layout of the arguments; exact() implies it
  thread_invariant,  ///< the same bits with any number of intra-op threads; exact() implies it
  /// A row along dim 0 has the same bits whatever the other rows are, and however many there are.
  batch_invariant,
  nondeterministic_seeded,  ///< draws random numbers from the given generator, or from the default one
  capturable,               ///< can be captured into a CUDA graph and replayed; needs dtypes on CUDA
  differentiable,           ///< has a derivative that autograd finds
  twice_differentiable,     ///< has a second derivative; `differentiable` must be promised too
  forward_differentiable,   ///< has a tangent (forward mode, torch.func.jvp) where an input has one
  vmappable,                ///< torch.func.vmap returns what the calls one by one return
  clear_errors,             ///< exceptions name the argument that is wrong, and what was wrong or expected
  fake_refuses,             ///< the fake kernel refuses sizes, dtypes and numbers that the operator refuses
  /// The fake kernel serves sizes that are known only at run time (unbacked symbols), as those of nonzero().
  unbacked_sizes,
  /// Raises where an argument that is written shares memory with another one or overlaps itself.
  refuses_overlap,
  /// Takes tensors of 2^32 elements that lie in little memory (stride 0), and allocates no tensor of that
  /// size.
  large_sizes,
  /// A class has def_pickle. The engine sets this itself, where the class has it or is meant for
  /// torch.export.
  picklable,
  /// A class has __obj_flatten__. The engine sets this itself, on the same conditions.
  flattenable,
};

using Promises = std::set<Promise>;

/// The word that a spec in Python and a JSON file use: "batch_invariant".
std::string_view to_string(Promise promise);

inline constexpr Promise deterministic = Promise::deterministic;
inline constexpr Promise layout_invariant = Promise::layout_invariant;
inline constexpr Promise thread_invariant = Promise::thread_invariant;
inline constexpr Promise batch_invariant = Promise::batch_invariant;
inline constexpr Promise nondeterministic_seeded = Promise::nondeterministic_seeded;
[[deprecated("write nondeterministic_seeded, as torch's tag is called")]]  //
inline constexpr Promise draws_random = Promise::nondeterministic_seeded;
inline constexpr Promise capturable = Promise::capturable;
inline constexpr Promise differentiable = Promise::differentiable;
inline constexpr Promise twice_differentiable = Promise::twice_differentiable;
inline constexpr Promise forward_differentiable = Promise::forward_differentiable;
inline constexpr Promise vmappable = Promise::vmappable;
inline constexpr Promise clear_errors = Promise::clear_errors;
inline constexpr Promise fake_refuses = Promise::fake_refuses;
inline constexpr Promise unbacked_sizes = Promise::unbacked_sizes;
inline constexpr Promise refuses_overlap = Promise::refuses_overlap;
inline constexpr Promise large_sizes = Promise::large_sizes;

}  // namespace opgate
