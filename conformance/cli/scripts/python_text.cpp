#include "cli/scripts/python_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "base/dtypes.h"

namespace opgate {
namespace {

constexpr size_t kLineLength = 100;

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", +value);  // the + prints a byte as a number, not as a character
  } else if constexpr (std::is_floating_point_v<T>) {
    return value != value ? "nan"
                          : fmt::format("{:#}", value);  // "-0.0" and "1.0", the shortest that is exact
  } else {
    // A small floating dtype is written with the fewest digits that are read back as the same value.
    const auto wide = static_cast<float>(value);
    for (int digits = 1; digits < 9; ++digits) {
      const std::string text = fmt::format("{:#.{}g}", wide, digits);
      if (static_cast<float>(static_cast<T>(std::strtof(text.c_str(), nullptr))) == wide) return text;
    }
    return number_text(wide);
  }
}

template <class T>
std::string number_text(c10::complex<T> value) {
  return fmt::format("complex({}, {})", number_text(value.real()), number_text(value.imag()));
}

// Formats a list in brackets, over several lines if it is long.
std::string list_text(const std::vector<std::string>& elements) {
  std::string text = fmt::format("[{}]", fmt::join(elements, ", "));
  if (text.size() <= kLineLength / 2) return text;
  text = "[\n    ";
  size_t line = 4;
  for (const std::string& element : elements) {
    if (line + element.size() + 2 > kLineLength) {
      text.back() = '\n';
      text += "    ";
      line = 4;
    }
    text += element + ", ";
    line += element.size() + 2;
  }
  text.back() = '\n';
  return text + "]";
}

template <class T>
std::vector<std::string> texts(const std::byte* data, size_t bytes) {
  const auto* elements = reinterpret_cast<const T*>(data);
  std::vector<std::string> all;
  for (const T& element : std::span(elements, bytes / sizeof(T))) all.push_back(number_text(element));
  return all;
}

}  // namespace

std::string python_text(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return number_text(value.toBool());
  if (value.isInt()) return number_text(value.toInt());
  if (value.isDouble()) return number_text(value.toDouble());
  if (value.isComplexDouble()) return number_text(value.toComplexDouble());
  if (value.isString()) return nlohmann::json(value.toStringRef()).dump();  // escapes as Python does
  if (value.isDevice()) return fmt::format("torch.device({})", python_text(value.toDevice().str()));
  if (value.isList()) {
    std::vector<std::string> elements;
    for (const c10::IValue& element : value.toListRef()) elements.push_back(python_text(element));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  }
  throw SetupError(
      fmt::format("--python cannot write an argument of type {} as Python source", value.tagKind()));
}

std::string python_storage(const at::Tensor& tensor) {
  const at::Tensor host = tensor.device().is_cpu() ? tensor : tensor.cpu();
  const auto* data = static_cast<const std::byte*>(host.storage().data());
  const size_t bytes = host.storage().nbytes();
  const std::string name(dtype_name(tensor.scalar_type()));
  std::string dtype = name, view;
  const std::vector<std::string> elements = visit_dtype(tensor.scalar_type(), [&]<class T>() {
    if constexpr (Opaque<T>) {
      dtype = "uint8";
      view = fmt::format(".view(torch.{})", name);
      return texts<uint8_t>(data, bytes);
    } else {
      return texts<T>(data, bytes);
    }
  });
  const std::string device =
      tensor.device().is_cpu() ? "" : fmt::format(", device={}", python_text(tensor.device().str()));
  return fmt::format("torch.tensor({}, dtype=torch.{}{}){}", list_text(elements), dtype, device, view);
}

std::string python_name(std::string name) {
  // Python keywords that are valid names in a schema, and names that the scripts use themselves.
  constexpr std::array<std::string_view, 26> kTaken{
      "async",    "await", "except", "finally",  "from",  "global",  "in",     "is",   "lambda",
      "nonlocal", "pass",  "raise",  "try",      "yield", "again",   "before", "call", "compiled",
      "dense",    "inf",   "nan",    "returned", "sys",   "tensors", "torch",  "wide"};
  std::ranges::replace(name, '[', '_');
  std::erase(name, ']');
  if (std::ranges::find(kTaken, name) != kTaken.end()) name += '_';
  return name;
}

}  // namespace opgate
