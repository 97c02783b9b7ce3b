// C++ values as Python source.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace opgate {

/// "None", "True", "1.5", "[1, 2]", "'text'"; `nan` and `inf` are names, to be imported from math. Throws
/// SetupError for what has no such form, such as an object.
std::string python_text(const c10::IValue& value);

/// "torch.tensor([0.5, -0.0], dtype=torch.float16)": the whole storage under `tensor`, gaps included, on its
/// device, without conjugation. Lines are broken.
std::string python_storage(const at::Tensor& tensor);

/// The same name where it can be one in a script, and is none that scripts use themselves.
std::string python_name(std::string name);

}  // namespace opgate
