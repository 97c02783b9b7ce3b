// Samples that once showed a defect, kept beside the specs, one JSON file for each sample.
#pragma once

#include <filesystem>
#include <vector>

namespace opgate {

struct Spec;

/// Adds the sample of each *.json in `folder`, {"op": "ns::op", "sample": {...}}, to the spec of its
/// operator. An empty path means no folder. Throws SpecError that names the file if it holds no such
/// sample, or if the operator has no spec.
void add_regressions(const std::filesystem::path& folder, std::vector<Spec>& subjects);

}  // namespace opgate
