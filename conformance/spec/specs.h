// The specs of this process, and the operators they speak of.
#pragma once

#include <opgate/spec.h>

#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// Runs every registered spec function, sorted by name. Throws SpecError.
std::vector<Spec> registered_specs();

/// The overload that a spec names: "ns::op" or "ns::op.overload"; none if no loaded library defines it.
std::optional<c10::OperatorHandle> find_op(const std::string& name);

/// Finds the operator that the spec speaks of, and fills arguments left out with the schema's defaults.
/// Throws SpecError where the spec does not fit the schema: argument count and types, sample names that
/// repeat, an operator that is not there.
void fit_to_schema(Spec& spec);

/// Gives each spec its id: "identity_conv", or the full name where two namespaces have an op of that name.
/// Throws SpecError where two specs speak of the same subject.
void name_subjects(std::vector<Spec>& specs);

}  // namespace opgate
