// Forks a native worker from one that is ready; see run/worker/worker_template.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace opgate {

/// Carries out the command "fork", and returns the answer to it; none in the new process, which has the files
/// that `request` names as its commands, answers and log, and no limits of its own yet. It is a child of the
/// supervisor, and ends with it.
std::optional<nlohmann::json> fork_worker(const nlohmann::json& request);

}  // namespace opgate
