// The JSON form of a mutant and of its fate.
#pragma once

#include <nlohmann/json.hpp>

#include "mutation/mutant.h"

namespace opgate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mutant, number, kind, file, line, column, function, original, mutated)

NLOHMANN_JSON_SERIALIZE_ENUM(Fate, {{Fate::killed, "killed"},
                                    {Fate::survived, "survived"},
                                    {Fate::not_reached, "not reached"},
                                    {Fate::equivalent, "equivalent"},
                                    {Fate::refused, "does not compile"}})

}  // namespace opgate
