// Torch's own serialisation. One file alone includes its header, which takes six seconds to compile.
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

namespace opgate {

/// The value as torch.save writes it. Throws c10::Error for a value that cannot be serialised.
std::vector<char> pickled(const c10::IValue& value);

/// What pickled() was given, also objects of classes that are registered. Throws c10::Error for other bytes.
c10::IValue unpickled(const std::vector<char>& bytes);

}  // namespace opgate
