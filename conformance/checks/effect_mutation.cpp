// effect.mutation: inputs stay as they are, over their whole storage, unless the schema declares them
// mutable.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate::effect_mutation {
namespace {

// Marks the elements of the storage that the operator may write: those of each view of it that the schema
// declares Tensor(a!).
std::vector<bool> writable_elements(const TensorInput& input, const Arguments& arguments,
                                    const c10::FunctionSchema& schema) {
  std::vector<bool> writable(static_cast<size_t>(input.geometry.elements));
  for (const TensorInput& other : arguments.tensors) {
    if (other.storage != input.storage || !schema.is_mutable({c10::SchemaArgType::input, other.position}))
      continue;
    for (int64_t i = 0; i < other.geometry.numel(); ++i)
      writable[static_cast<size_t>(other.geometry.storage_element(i))] = true;
  }
  return writable;
}

// Whether one of the tensor's elements lies there; otherwise it is a gap between them.
bool is_element(const Geometry& geometry, int64_t place) {
  for (int64_t i = 0; i < geometry.numel(); ++i) {
    if (geometry.storage_element(i) == place) return true;
  }
  return false;
}

std::string bytes_text(const StorageSnapshot& image, size_t element, size_t size) {
  std::string text = "0x";
  for (size_t byte = size; byte-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<int>(image[element * size + byte]));
  return text;
}

bool keeps_metadata(const TensorInput& input) {
  const at::Tensor& x = input.tensor;
  return x.sizes() == input.geometry.sizes && x.strides() == input.geometry.strides &&
         x.storage_offset() == input.geometry.offset && x.storage().nbytes() == input.before.size();
}

Finding changed_metadata(const TensorInput& input) {
  const at::Tensor& x = input.tensor;
  return Finding{fmt::format("`{}` keeps its shape, strides and storage", input.name),
                 fmt::format("after the call it has shape {}, strides {}, offset {} and {} bytes of storage, "
                             "not {}, {}, {} and {}",
                             index_text(x.sizes()), index_text(x.strides()), x.storage_offset(),
                             x.storage().nbytes(), index_text(input.geometry.sizes),
                             index_text(input.geometry.strides), input.geometry.offset, input.before.size()),
                 "the kernel calls t_(), resize_() or set_() on its argument; work on a view of it",
                 {fault::kMutation, input.name}};
}

std::optional<Finding> unwanted_write(const TensorInput& input, const Arguments& arguments,
                                      const Spec& spec) {
  const c10::FunctionSchema& schema = spec.op->schema();
  if (!keeps_metadata(input)) {
    if (may_change_metadata(spec, input)) return std::nullopt;
    return changed_metadata(input);
  }
  if (unchanged(input.tensor, input.before)) return std::nullopt;
  const StorageSnapshot after = storage_snapshot(input.tensor);
  const std::vector<bool> writable = writable_elements(input, arguments, schema);
  const size_t size = input.tensor.element_size();
  int64_t changed = 0;
  int64_t first = -1;
  for (size_t element = 0; element < writable.size(); ++element) {
    const auto begin = static_cast<std::ptrdiff_t>(element * size);
    if (writable[element] ||
        std::equal(after.begin() + begin, after.begin() + begin + static_cast<std::ptrdiff_t>(size),
                   input.before.begin() + begin)) {
      continue;
    }
    if (changed++ == 0) first = static_cast<int64_t>(element);
  }
  if (changed == 0) return std::nullopt;
  const std::string place = describe_element(input.geometry, first, input.name);
  const bool in_gap = !is_element(input.geometry, first);
  const auto at = static_cast<size_t>(first);
  return Finding{
      fmt::format("`{}` is unchanged, bit for bit, over its whole storage{}", input.name,
                  std::ranges::find(writable, true) == writable.end()
                      ? ""
                      : " outside the view that the schema lets it write"),
      fmt::format("{} of {} storage elements were written, the first in {}: {} became {}", changed,
                  writable.size(), place, bytes_text(input.before, at, size), bytes_text(after, at, size)),
      in_gap ? fmt::format("memory between the elements of `{}` belongs to another tensor; the kernel writes "
                           "past the end of a row (or writes whole vectors)",
                           input.name)
             : fmt::format("if the write is meant, declare it: Tensor(a!) {} in the schema, mutates_args in "
                           "Python",
                           input.name),
      {fault::kMutation, input.name}};
}

std::optional<Finding> unwanted_write(const Arguments& arguments, const Spec& spec) {
  for (const TensorInput& input : arguments.tensors) {
    if (auto finding = unwanted_write(input, arguments, spec)) return finding;
  }
  return std::nullopt;
}

// Forwards write what their backward needs, and code for training runs in calls with gradients alone.
std::optional<Finding> unwanted_write_with_gradients(CallUnderTest& under_test) {
  const Observation* call = under_test.observed_with_gradients();
  auto finding = call == nullptr ? std::nullopt : unwanted_write(call->arguments, *under_test.key().spec);
  if (finding) {
    finding->promised += ", also where inputs require gradients";
    finding->fault.kind = fault::kMutationWithGradients;
  }
  return finding;
}

Judgement judge(CallUnderTest& under_test) {
  auto finding = unwanted_write(under_test.observed().arguments, *under_test.key().spec);
  if (!finding) finding = unwanted_write_with_gradients(under_test);
  if (finding) return Judgement::fail(*std::move(finding));
  // A call that raises must leave its inputs unchanged too, so this comes after the inputs were compared.
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(effect_mutation, {.name = "effect.mutation",
                                        .scope = {.variants = Scope::Variants::every},
                                        .quick = true,
                                        .explores = true,
                                        .judge = &judge});

}  // namespace
}  // namespace opgate::effect_mutation
