// What this module returns of judgements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace opgate {

/// JSON without line breaks. Invalid UTF-8 is replaced, because an operator's message may hold any bytes.
inline std::string text_of(const nlohmann::json& judged) {
  return judged.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace opgate
