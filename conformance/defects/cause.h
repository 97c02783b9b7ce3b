// The words for a defect: what is wrong with the operator, and how bad that is.
#pragma once

#include <string>

#include "defects/broken_case.h"

namespace opgate {

enum class Severity;

/// A clause in lower case that names the mistake, such as "`x` is read as if it were dense: its strides are
/// ignored".
std::string cause_of(const BrokenCase& broken);

/// Whether the check of the case is the one that is about this fault, such as value.layout about layouts.
bool is_about_its_fault(const BrokenCase& broken);

Severity severity_of(const BrokenCase& broken);

}  // namespace opgate
