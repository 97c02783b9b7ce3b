// Which calls of an operator, model or class a check is planned for. A scope is data and not code, so that
// checks written in Python can be planned without starting Python.
#pragma once

#include <opgate/promises.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "inputs/call_key.h"
#include "inputs/variant.h"

namespace opgate {

struct Scope {
  enum class Variants {
    contiguous,
    /// The sample's sizes in another layout: transposed, stepped, expanded, two in one storage.
    rearranged,
    /// Other sizes, which an operator may refuse: empty along each dim, 0-dim.
    resized,
    /// Contiguous and rearranged: the sizes that the spec wrote.
    same_sizes,
    /// Contiguous, stepped and transposed: the calls that go into the AOTInductor package.
    packaged,
    /// All of the above.
    every,
    /// Inputs that the spec rejects, and those that the engine damages, which the operator may refuse.
    bad,
  };
  enum class Sweep {
    /// Every layout in every dtype.
    every_combination,
    /// Every sample contiguous in the first declared dtype. The first sample also in every layout in that
    /// dtype, and contiguous in every dtype. For checks that cost a thousand times as much as a native one.
    one_at_a_time,
  };
  enum class Dtypes {
    declared,
    every,  ///< undeclared ones too, on the first sample only; of a draft the declared ones
    first,  ///< the first one that the spec declares for the device
    /// Declared ones in which every floating argument is Double; where there is none, and no reference that
    /// says more than the operator itself, the declared one of most bits.
    most_precise,
  };
  /// `simulated`: only simulated devices, which see what a real one does not show.
  enum class Device { cpu, accelerator, simulated, cpu_or_simulated };
  bool ops = true;
  bool models = false;
  bool classes = false;
  Variants variants = Variants::every;
  Dtypes dtypes = Dtypes::declared;
  Sweep sweep = Sweep::every_combination;

  std::optional<std::set<std::string>> subjects = {};  ///< only these, by name
  bool first_sample = false;                           ///< only the spec's first sample
  std::optional<Promise> promised = {};                ///< only if the spec makes this promise
  std::optional<Device> device = {};                   ///< only on devices of this kind
  bool drafts = true;                                  ///< also of drafts
  bool reference = false;  ///< only if the spec has a reference, which a draft need not have
  /// With `reference`, also kernels over torch's own operators: their calls are compared with each other.
  bool replaced_too = false;
  bool derivatives = false;  ///< only calls with a floating or complex tensor, and ordinary numbers only
  bool in_cpp = false;       ///< only operators that a C++ program can call
  bool registered = false;   ///< only operators of a dispatcher, and no functions
  /// Also kernels over torch's own operators. Compilers and exporters compile these operators by code of
  /// their own, so that what they return shows nothing of such a kernel.
  bool over_torch = true;
  /// Without `over_torch`, still kernels at an Autograd key, which compilers trace instead of torch's own.
  bool over_autograd = false;
  std::string_view unless_unspecified_for = {};  ///< not where the spec leaves results unspecified for this
  bool writes = false;                           ///< only operators that write to an argument
  /// Only dtypes that the spec declares on the CPU as well; of a draft without a reference, only operators
  /// with a kernel for the CPU.
  bool on_cpu_too = false;
};

/// Whether a draft may be asked for more calls than the finished spec: for what it has not promised, and
/// where it has no reference.
bool may_ask_more_of_drafts(const Scope& scope);

/// True if a check of this scope is planned for this call. `variant` is the variant that `key` names.
bool in_scope(const Scope& scope, const CallKey& key, const Variant& variant);

}  // namespace opgate
