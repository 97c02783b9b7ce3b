#include "gate/schema_compatibility.h"

#include <ATen/core/function_schema.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <cctype>
#include <sstream>

namespace opgate {
namespace {

std::string on_one_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, "; ");
  return text;
}

}  // namespace

std::string why_incompatible(const std::string& then, const std::string& now) {
  if (then == now) return "";
  try {
    std::ostringstream reasons;
    if (torch::jit::parseSchema(now).isBackwardCompatibleWith(torch::jit::parseSchema(then), &reasons))
      return "";
    const std::string text = on_one_line(reasons.str());
    return text.empty() ? "arguments were removed, renamed, reordered or retyped, or have no default" : text;
  } catch (const c10::Error& error) {
    return std::string("the schemas cannot be compared: ") + error.what_without_backtrace();
  }
}

}  // namespace opgate
