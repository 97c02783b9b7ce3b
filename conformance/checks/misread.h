// Why a result depends on the layout: tries the usual mistakes on the same memory and says which of them
// gives exactly the result that the operator gave.
#pragma once

#include <string>

#include "call/evidence.h"

namespace opgate {

/// A sentence on the cause, or nothing where no usual mistake explains the result.
std::string likely_misread(Evidence& evidence);

}  // namespace opgate
