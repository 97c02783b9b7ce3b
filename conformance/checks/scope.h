// Which of a subject's calls a check is planned for. Data and not code, so that checks written in Python are
// planned without starting Python for each case.
#pragma once

#include <opgate/promises.h>

#include <optional>
#include <set>
#include <string>

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
  enum class Sweep {
    every_combination,  ///< every layout in every dtype
    one_at_a_time,  ///< every sample contiguous in the first declared dtype; of the first sample also every
                    ///< layout, and every dtype: for checks that cost a thousand times a native one
  };
  enum class Dtypes {
    declared,
    every,    ///< undeclared ones too, on the first sample only
    first,    ///< one: the first that the spec declares
    doubles,  ///< Double, where every floating argument is of it

  };
  bool ops = true;
  bool models = false;
  bool classes = false;
  Variants variants = Variants::every;
  Dtypes dtypes = Dtypes::declared;
  Sweep sweep = Sweep::every_combination;

  std::optional<std::set<std::string>> subjects = {};  ///< only these, by name
  bool first_sample = false;                           ///< one sample is enough
  std::optional<Promise> promised = {};                ///< only where the spec makes this promise
  std::optional<c10::DeviceType> device = {};          ///< only there
  bool reference = false;    ///< only where the spec has a reference, which a draft need not have
  bool derivatives = false;  ///< only calls with a floating argument, whose numbers are all ordinary ones
  bool in_cpp = false;       ///< only operators that a C++ program can call
  bool on_cpu_too = false;   ///< only dtypes that the spec declares on the CPU as well
};

/// True where a check of this scope looks at this call, `variant` being the key's own.
bool in_scope(const Scope& scope, const CallKey& key, const Variant& variant);

}  // namespace opgate
