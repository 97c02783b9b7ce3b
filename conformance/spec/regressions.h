// Samples that once showed a defect, kept beside the specs: one JSON file each.
#pragma once

#include <opgate/spec.h>

#include <filesystem>
#include <vector>

namespace opgate {

/// Adds the sample of each *.json in `folder`, {"op": "ns::op", "sample": {...}}, to the spec of its
/// operator; an empty path means none. Throws SpecError that names the file, for one that is no such sample
/// or names an operator without a spec.
void add_regressions(const std::filesystem::path& folder, std::vector<Spec>& subjects);

}  // namespace opgate
