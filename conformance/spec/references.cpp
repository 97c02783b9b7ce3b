#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include "base/errors.h"
#include "spec/schema/function_name.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {

std::optional<c10::OperatorHandle> find_op(const std::string& subject) {
  const std::string name = operator_of(subject);
  const auto colon = name.find("::");
  const auto dot = colon == std::string::npos ? colon : name.find('.', colon);
  const std::string base = name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({base, overload});
}

std::string schema_text(const Spec& spec) { return schema_text(spec, spec.op.value().schema()); }

std::string schema_text(const Spec& spec, const c10::FunctionSchema& schema) {
  const std::string text = c10::toString(schema);
  return spec.name + text.substr(text.find('('));
}

void fill_defaults(const c10::OperatorHandle& reference, const std::string& where, torch::jit::Stack& stack) {
  const std::vector<c10::Argument>& arguments = reference.schema().arguments();
  const auto unfit = [&](const std::string& why) {
    return spec_error("{}: the reference does not take the operator's {} arguments: {}{}", where,
                      stack.size(), c10::toString(reference.schema()), why);
  };
  if (stack.size() > arguments.size()) throw unfit("");
  for (size_t i = stack.size(); i < arguments.size(); ++i) {
    if (!arguments[i].default_value())
      throw unfit(fmt::format(" has no default for `{}`", arguments[i].name()));
    stack.push_back(*arguments[i].default_value());
  }
}

Reference reference_by_name(std::string op_name, std::string where) {
  return [op_name = std::move(op_name), where = std::move(where)](const c10::OperatorHandle&,
                                                                  torch::jit::Stack& stack) {
    const c10::OperatorHandle op = find_reference(op_name, where);
    fill_defaults(op, where, stack);
    op.callBoxed(stack);
  };
}

bool is_compared_with_itself(const Spec& spec) {
  return spec.reference != nullptr && spec.reference_op == spec.name;
}

c10::OperatorHandle find_reference(const std::string& op_name, const std::string& where) {
  if (const auto op = find_op(op_name)) return *op;
  throw spec_error(
      "{}: the reference {} is not an operator of this process; check its name, and "
      "`libraries` in opgate.toml",
      where, op_name);
}

}  // namespace opgate
