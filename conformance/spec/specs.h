// The specs of this process, and the operators they speak of.
#pragma once

#include <opgate/spec.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace opgate {

/// Runs every registered spec function, sorted by name. Throws SpecError.
std::vector<Spec> registered_specs();

/// The overload that a spec names: "ns::op" or "ns::op.overload"; none if no loaded library defines it.
std::optional<c10::OperatorHandle> find_op(const std::string& name);

/// Adds a subject to the process-wide list; `write` fills in its spec.
bool register_subject(std::string name, std::function<void(Spec&)> write, std::string where);

/// Finds the operator that the spec speaks of, and fills arguments left out with the schema's defaults.
/// Throws SpecError where the spec does not fit the schema: argument count and types, sample names that
/// repeat, an operator that is not there.
void fit_to_schema(Spec& spec);

/// Throws SpecError where the operator is gone, or has another schema than when fit_to_schema() found it.
void demand_same_schema(const Spec& spec);

/// As fit_to_schema() for the spec of a TorchBind class: constructor, methods, and the model's types. Throws
/// SpecError.
void fit_to_class(Spec& spec);

/// The sample's arguments against those of the schema after the first `bound` (self), and the defaults of
/// those left out. Throws SpecError.
void fit_sample(Sample& sample, const c10::FunctionSchema& schema, size_t bound = 0);

/// Gives each spec its id: "identity_conv", or the full name where two namespaces have an op of that name.
/// Throws SpecError where two specs speak of the same subject.
void name_subjects(std::vector<Spec>& specs);

}  // namespace opgate
