#include "base/pickle.h"

#include <torch/csrc/jit/serialization/pickle.h>

namespace opgate {

std::vector<char> pickled(const c10::IValue& value) { return torch::jit::pickle_save(value); }

c10::IValue unpickled(const std::vector<char>& bytes) {
  return torch::jit::pickle_load_obj({bytes.data(), bytes.size()});
}

}  // namespace opgate
