// Calls that `opgate record` saw in another program, as samples: one JSON file an operator.
//
//   {"recorded": 1, "op": "ns::op", "schema": "...", "torch": "2.15.0", "calls": 240,
//    "dtypes": {"cpu": ["float32"]}, "differentiated": true,
//    "samples": [{"arguments": [...], "calls": 12, "layouts": {"x strides (1, 8)": 3}}, ...]}
#pragma once

#include <opgate/spec.h>

#include <filesystem>
#include <string>
#include <vector>

namespace opgate {

inline constexpr int kRecordingFormat = 1;

/// Adds the samples of each *.json in `folder` to the spec of its operator; where that has none, a draft made
/// of what was recorded: its dtypes, differentiable if a gradient was wanted, and integer tensors trusted. An
/// empty path means no folder. With `python_too`, operators that this process lacks are those of the Python
/// worker, which makes the calls of every such draft: fakes and derivatives may be registered there.
///
/// Throws SpecError that names the file, for one that is no such record, whose samples no longer fit the
/// schema, or of an operator that nothing defines.
void add_recordings(const std::filesystem::path& folder, bool python_too, std::vector<Spec>& subjects);

}  // namespace opgate
