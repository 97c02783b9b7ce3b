// A call of an operator that the specs have no sample for.
#pragma once

#include <opgate/sample.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/project/project_options.h"

namespace opgate {

struct Spec;

struct OtherCall {
  std::filesystem::path samples;  ///< a file with the sample of the call alone, for ProjectOptions::samples
  std::string case_id;
};

/// Writes a file in which the operator has these samples and no others. Throws SetupError if it cannot be
/// written.
void write_samples_of(const std::filesystem::path& file, const Spec& spec, std::vector<Sample> samples);

/// The call that shows what is wrong with the case `id` (Judgement::example). Throws SetupError.
OtherCall call_of_example(const ProjectOptions& options, const std::string& id, const std::string& example);

}  // namespace opgate
