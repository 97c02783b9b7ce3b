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

/// Gives a draft without a reference the accuracy that it does not name.
void complete_draft(Spec& spec);

/// Throws SpecError that names what the spec lacks, or where it contradicts itself.
void validate(const Spec& spec);

/// A promise that an operator's spec can make, as it is written there. Throws SpecError, which begins with
/// `where` and lists them, for another word.
Promise known_promise(const std::string& word, const std::string& where);

/// The overload that a spec names: "ns::op" or "ns::op.overload"; none if no loaded library defines it.
std::optional<c10::OperatorHandle> find_op(const std::string& name);

/// The operator that a spec names as a reference. Throws SpecError, which begins with `where`, where it is
/// not there.
c10::OperatorHandle find_reference(const std::string& op_name, const std::string& where);

/// Registers the schema alone, of an operator whose kernels are in another process; for as long as this one
/// lives. Throws SpecError, which begins with `where`.
void define_schema(const std::string& name, const std::string& schema, const std::string& where);

/// A reference may take more arguments than the operator, where they have defaults: aten::clone's memory
/// format. Adds them to the operator's arguments. Throws SpecError where it takes others.
void fill_defaults(const c10::OperatorHandle& reference, const std::string& where, torch::jit::Stack& stack);

/// Another operator as a reference, looked up when it is called.
Reference reference_by_name(std::string op_name, std::string where);

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

/// The benches against the operator's schema and what the spec promises; each gets its baseline. Throws
/// SpecError.
void fit_benches(Spec& spec);

/// Gives each spec its id: "identity_conv", or the full name where two namespaces have an op of that name.
/// Throws SpecError where two specs speak of the same subject.
void name_subjects(std::vector<Spec>& specs);

}  // namespace opgate
