// Calls that `opgate record` saw in another program, as samples: one JSON file for each operator.
//
//   {"recorded": 1, "op": "ns::op", "schema": "...", "torch": "2.15.0", "calls": 240,
//    "dtypes": {"cpu": ["float32"]}, "differentiated": true,
//    "rejections": [{"arguments": [...]}, ...],
//    "samples": [{"arguments": [...], "calls": 12, "layouts": {"x strides (1, 8)": 3}}, ...]}
//
// The rejections are calls that always raised; there may be none. "replaced_at": "CUDA" names the dispatch
// key at which the project replaces the kernel of an operator of torch's own.
#pragma once

#include <opgate/sample.h>

#include <filesystem>
#include <vector>

#include "spec/registration.h"

namespace opgate {

struct Spec;

inline constexpr int kRecordingFormat = 1;

/// Adds the samples of each *.json in `folder` to the spec of its operator. An operator without a spec gets a
/// draft, made from the recording: the recorded dtypes, the promise `differentiable` if an input of the
/// program required a gradient or an autograd kernel is registered (a guess: see Spec::guessed), that of the
/// operator's tag nondeterministic_seeded, and all integer tensors assumed to be trusted. An empty path means
/// no folder. With `python_too`, operators that this process lacks are taken to be defined in the Python
/// worker. It makes the calls of their drafts, and of the drafts of operators in `python_kernels`, because
/// fake kernels and derivatives are registered there.
///
/// Throws SpecError that names the file if the file is not a recording, if its samples no longer fit the
/// schema, or if nothing defines the operator.
void add_recordings(const std::filesystem::path& folder, bool python_too, const PythonKernels& python_kernels,
                    std::vector<Spec>& subjects);

/// Whether values of the sample are not those of a recorded call: of large tensors, a recording keeps only
/// the range.
bool has_other_values_than_recorded(const Spec& spec, const Sample& sample);

}  // namespace opgate
