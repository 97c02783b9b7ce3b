// Whether callers of one schema can call another, by PyTorch's own rules.
#pragma once

#include <string>

namespace opgate {

/// The reason why callers of the schema `then` cannot call the schema `now`; empty if they can.
std::string why_incompatible(const std::string& then, const std::string& now);

}  // namespace opgate
