// Which of a subject's calls a check is planned for. Data and not code, so that checks written in Python are
// planned without starting Python for each case.
#pragma once

#include <opgate/promises.h>

#include <optional>

#include "call/call_key.h"
#include "call/variant.h"

namespace opgate {

struct Scope {
  enum class Variants {
    contiguous,
    rearranged,  ///< the same sizes otherwise in memory: transposed, stepped, expanded, two in one storage
                 ///< ...
    resized,     ///< empty along each dim, 0-dim: sizes that an operator may refuse
    same_sizes,  ///< contiguous and rearranged: the sizes that the spec wrote

    packaged,  ///< contiguous, stepped, transposed: what goes into the package, which is compiled as one
               ///< graph
    every,     ///< all of the above
    bad,       ///< what the operator must refuse
  };
  enum class Dtypes {
    declared,
    every,  ///< undeclared ones too, on the first sample only
    first,  ///< one: the first that the spec declares
  };
  bool ops = true;
  bool models = false;
  bool classes = false;
  Variants variants = Variants::every;
  Dtypes dtypes = Dtypes::declared;
  bool first_sample = false;                   ///< one sample is enough
  std::optional<Promise> promised = {};        ///< only where the spec makes this promise
  std::optional<c10::DeviceType> device = {};  ///< only there
  bool on_cpu_too = false;                     ///< only dtypes that the spec declares on the CPU as well
};

/// True where a check of this scope looks at this call, `variant` being the key's own.
bool in_scope(const Scope& scope, const CallKey& key, const Variant& variant);

}  // namespace opgate
