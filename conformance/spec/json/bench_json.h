// The JSON form of a bench, in which Python describes those of its specs:
//
//   {"name": "4096x1024", "arguments": [...], "where": "specs.py:12", "dtype": "float32",
//    "against": "aten::clone", "forward": {"all": 0.95, "cuda": 2}, "backward": {}}
//
// The arguments are those of spec/json/sample_json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "spec/bench.h"

namespace opgate {

/// Throws SpecError if the baseline or a device does not exist, or a limit is no ratio above 0. With an empty
/// "against", the bench has no baseline yet.
Bench bench_from_json(const nlohmann::json& described);

}  // namespace opgate
