#include "judging/revision.h"

#include <fmt/format.h>

#include "judging/check.h"

namespace opgate {

std::string revision_of(const Check& check) {
  return fmt::format("{}.{}.{}", check.revision, kRevisionOfArguments, kRevisionOfComparison);
}

}  // namespace opgate
