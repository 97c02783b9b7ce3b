#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/sample.h>

#include <algorithm>
#include <sstream>

namespace opgate {

TensorArgument TensorArgument::of(c10::ScalarType fixed) const {
  TensorArgument copy = *this;
  copy.dtype = fixed;
  return copy;
}

int64_t Sample::tensor_count() const {
  return std::ranges::count_if(arguments, [](const Argument& a) { return a.tensor() != nullptr; });
}

std::string default_name(const std::vector<Argument>& arguments) {
  std::vector<std::string> parts;
  for (const Argument& argument : arguments) {
    if (const TensorArgument* tensor = argument.tensor()) {
      parts.push_back(tensor->shape.empty() ? "0d" : fmt::format("{}", fmt::join(tensor->shape, "x")));
    } else {
      std::ostringstream text;
      text << argument.other();
      parts.push_back(text.str());
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace opgate
