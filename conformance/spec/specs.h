// The specs of this process, and the operators that they describe.
#pragma once

#include <ATen/core/stack.h>
#include <opgate/error.h>
#include <opgate/promises.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <functional>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace c10 {
struct FunctionSchema;
class OperatorHandle;
}  // namespace c10

namespace opgate {

struct Spec;

/// Runs every registered spec function and returns the specs, sorted by name. Throws SpecError for a spec
/// that is incomplete or contradicts itself.
std::vector<Spec> registered_specs();

/// Gives a draft without a reference the accuracy that it does not name.
void complete_draft(Spec& spec);

/// Throws SpecError that says what the spec lacks, or how it contradicts itself.
void validate(const Spec& spec);

/// The promise that an operator's spec calls `word`. For an unknown word, throws SpecError that begins with
/// `where` and lists the promises.
Promise known_promise(const std::string& word, const std::string& where);

/// The overload that a spec names: "ns::op" or "ns::op.overload", or the one that stands for a function,
/// "module:qualname". None if nothing in this process defines it.
std::optional<c10::OperatorHandle> find_op(const std::string& subject);

/// "ns::op(Tensor x) -> Tensor": the schema of the spec's operator, under the name that the spec has for it.
std::string schema_text(const Spec& spec);

/// The same for another schema of that operator.
std::string schema_text(const Spec& spec, const c10::FunctionSchema& schema);

/// The operator that a spec names as a reference. Throws SpecError that begins with `where` if no loaded
/// library defines it.
c10::OperatorHandle find_reference(const std::string& op_name, const std::string& where);

/// Whether a loaded library defines the operator. The operators of define_schema() do not count.
bool is_defined_in_cpp(const std::string& name);

/// The names of all operators for which is_defined_in_cpp() is true, those of torch itself among them.
std::set<std::string> operators_defined_in_cpp();

/// Registers only the schema of an operator whose kernels are in another process, unless that was done
/// before; it stays registered until this process ends. Throws SpecError that begins with `where` if the
/// schema is invalid.
void define_schema(const std::string& name, const std::string& schema, const std::string& where);

/// Adds to `stack`, which holds the operator's arguments, the defaults of the reference's further
/// arguments, such as the memory format of aten::clone. Throws SpecError if the reference takes fewer
/// arguments, or if one of the further ones has no default.
void fill_defaults(const c10::OperatorHandle& reference, const std::string& where, torch::jit::Stack& stack);

/// A reference that calls another operator, which is looked up at each call.
Reference reference_by_name(std::string op_name, std::string where);

/// Whether the reference is the operator itself, in Double: it shows rounding, and nothing about the formula.
bool is_compared_with_itself(const Spec& spec);

/// "spec.cpp:12": the place of a sample as messages give it.
std::string at_line(const std::source_location& here);

/// Adds a subject to the process-wide list; `write` fills in its spec.
bool register_subject(std::string name, std::function<void(Spec&)> write, std::string where);

/// Finds the operator that the spec describes, and fills in the schema's defaults for arguments that
/// samples leave out. Throws SpecError if no library defines the operator, if the number or types of
/// arguments do not fit the schema, or if two samples have the same name.
void fit_to_schema(Spec& spec);

/// Throws SpecError if the operator has been unregistered, or has another schema than when fit_to_schema()
/// ran.
void demand_same_schema(const Spec& spec);

/// Does the same for the spec of a TorchBind class: finds the class, and throws SpecError if its
/// constructor or methods do not fit the samples or the model.
void fit_to_class(Spec& spec);

/// Compares the sample's arguments with those of the schema, without the first `bound` (1 for a method's
/// self), and adds the defaults of those that are left out. Throws SpecError if they do not fit.
void fit_sample(Sample& sample, const c10::FunctionSchema& schema, size_t bound = 0);

/// Compares the benches with the operator's schema and the spec's promises, and gives each its baseline.
/// Throws SpecError if a bench does not fit, or if two have the same name.
void fit_benches(Spec& spec);

/// Gives each spec its id: "identity_conv", or the full name if two namespaces have an operator of that
/// name. Throws SpecError if two specs describe the same subject.
void name_subjects(std::vector<Spec>& specs);

}  // namespace opgate
