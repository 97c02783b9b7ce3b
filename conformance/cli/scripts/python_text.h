// Conversion of C++ values to Python source.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace opgate {

/// "None", "True", "1.5", "[1, 2]", "'text'"; `nan` and `inf` are names, to be imported from math. Throws
/// SetupError for a value without such a form, such as an object.
std::string python_text(const c10::IValue& value);

/// "torch.tensor([0.5, -0.0], dtype=torch.float16)": the whole storage under `tensor`, gaps included, on
/// its device, without conjugation. Long lists are broken into lines.
std::string python_storage(const at::Tensor& tensor);

/// Returns `name` made valid for a variable of a script: brackets are replaced, and Python keywords and
/// names that the scripts use themselves get a trailing underscore.
std::string python_name(std::string name);

}  // namespace opgate
