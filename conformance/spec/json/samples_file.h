// The samples of a run as a file, samples.json, so that another build of the operators can be called with
// them.
#pragma once

#include <filesystem>
#include <vector>

namespace opgate {

struct Spec;

/// Writes the samples of operators, with all arguments, as {"ns::op": [SAMPLE, ...]}. Throws SetupError if
/// the file cannot be written.
void write_samples(const std::filesystem::path& file, const std::vector<Spec>& subjects);

/// Gives each operator the samples that the file has for it, and no others: none if it has no entry. Models
/// and classes are left as they are. Throws SetupError for a file that is not written so.
void replace_samples(const std::filesystem::path& file, std::vector<Spec>& subjects);

}  // namespace opgate
