// Functions of Python as subjects. No dispatcher knows them, so OpGate registers each as an operator of a
// namespace of its own, in its own processes alone; specs, ids and reports name it "module:qualname".
#pragma once

#include <string>
#include <string_view>

namespace opgate {

/// The namespace of the operators that stand for functions. opgate/functions.py has the same name.
inline constexpr std::string_view kFunctionNamespace = "opgate_functions";

/// Whether this is the name of a function, "mylib.ops:scaled_add", and not of an operator or a model.
bool is_function(std::string_view subject);

/// Parameters whose names begin so are those of the constructor, for a method of an object that each call
/// makes: "mylib:Window().sums". opgate/methods.py has the same.
inline constexpr std::string_view kOfObject = "self_";

/// Whether this is the name of such a method.
bool is_method_of_new_object(std::string_view subject);

/// The dispatcher's name for a subject: "opgate_functions::mylib_ops_scaled_add" for "mylib.ops:scaled_add",
/// and the registered_name() of an operator.
std::string operator_of(std::string_view subject);

/// The name with which a schema begins, "ns::op.overload" or "mylib:Window().sums", before its parameters.
std::string_view name_in_schema(std::string_view schema);

/// The schema of a function, "mylib.ops:scaled_add(Tensor x) -> Tensor", with its operator's name.
std::string with_name_of_operator(std::string_view schema);

}  // namespace opgate
