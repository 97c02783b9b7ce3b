// Runs of some operators, and machines without some devices: what of them may be compared with the accepted
// state, and which parts of the accepted state are kept.
#pragma once

#include <c10/core/DeviceType.h>

#include <map>
#include <string>
#include <vector>

#include "gate/state.h"

namespace opgate {

/// Whether only some operators were run. Throws SetupError if the run left out checks, devices or cases
/// of those operators, because such a run does not show the state of an operator.
bool is_partial(const RunState& run);

/// Whether two runs were limited to the same operators, checks and cases; one of them may have had no
/// simulated device.
bool chose_the_same(const RunHeader& one, const RunHeader& other);

/// The checks to which the run was limited by --check; none if it has all. Throws SetupError if it left out
/// devices or cases.
std::vector<std::string> checks_of(const RunState& run);

/// True if no call was made on this machine: each case is owed, or passed on another machine.
bool is_unchecked(const DeviceState& device);

/// Leaves in `base` only what a run of these checks can show: other checks' cases and errors are removed, and
/// the devices and operators that have no others, such as models if only operators have these checks.
/// `checks` are patterns, as --check takes them.
void keep_checks(const std::vector<std::string>& checks, State& base);

/// How many kernels for each accelerator were not compared.
using KeptKernels = std::map<c10::DeviceType, size_t>;

/// Copies results from `base` to `head` for each device on which no case ran here, speeds for each device on
/// which none was measured, and kernels for an accelerator where the build of `head` has none at all, or, for
/// kernels of Python modules, where no case ran on it: a machine without one must not remove from the ledger
/// what one with it saw. Returns how many kernels were copied.
KeptKernels keep_unchecked_devices(const State& base, State& head);

/// Copies the bits and errors of other machines from `base` to `head`, for each operator and device whose
/// results on `machine` did not change. Where they changed, those of the other machines are out of date.
void keep_other_machines(const State& base, const std::string& machine, State& head);

}  // namespace opgate
