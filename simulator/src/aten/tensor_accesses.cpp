#include "aten/tensor_accesses.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aten/tensors_of_value.h"

namespace opgate::simulator::aten {
namespace tensor_accesses {

/// A dim of a tensor, in bytes.
struct Dim {
  std::int64_t size;
  std::int64_t stride;
};

// For a tensor with more separate pieces than these no access is known.
constexpr std::int64_t kMostPieces = 1024;

bool chooses_elements(const std::string& op) {
  constexpr std::array words{std::string_view("index"),   std::string_view("gather"),
                             std::string_view("scatter"), std::string_view("take"),
                             std::string_view("put"),     std::string_view("embedding"),
                             std::string_view("masked"),  std::string_view("diag")};
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return op.find(word) != std::string::npos; });
}

// Most operators in place read what they change.
bool only_writes(const c10::FunctionSchema& schema, const c10::Argument& argument) {
  if (argument.alias_info() == nullptr || !argument.alias_info()->isWrite()) return false;
  constexpr std::array overwriting{std::string_view("aten::copy_"),    std::string_view("aten::fill_"),
                                   std::string_view("aten::zero_"),    std::string_view("aten::normal_"),
                                   std::string_view("aten::uniform_"), std::string_view("aten::random_")};
  return argument.is_out() || std::ranges::find(overwriting, schema.name()) != overwriting.end();
}

// The dims that are not inside of one piece without gaps, and the bytes of such a piece.
std::pair<std::vector<Dim>, std::int64_t> pieces_of(const at::Tensor& tensor) {
  const auto element = static_cast<std::int64_t>(tensor.element_size());
  std::vector<Dim> dims;
  for (std::int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.size(i) > 1 && tensor.stride(i) != 0)
      dims.push_back({tensor.size(i), tensor.stride(i) * element});
  std::ranges::sort(dims, std::ranges::greater{}, &Dim::stride);
  std::int64_t bytes = element;
  while (!dims.empty() && dims.back().stride == bytes) {
    bytes *= dims.back().size;
    dims.pop_back();
  }
  return {dims, bytes};
}

}  // namespace tensor_accesses

TensorAccesses::TensorAccesses(const c10::FunctionSchema& schema)
    : schema_(schema), chooses_elements_(tensor_accesses::chooses_elements(schema.name())) {}

void TensorAccesses::reads_arguments(const c10::IValue* arguments) {
  for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
    if (!tensor_accesses::only_writes(schema_, schema_.arguments()[i])) reads(arguments[i]);
  }
}

void TensorAccesses::reads(const c10::IValue& argument) {
  for_each_tensor(argument, [this](const at::Tensor& tensor) {
    const bool is_floating = tensor.is_floating_point() || tensor.is_complex();
    if (tensor.is_cuda() && !(chooses_elements_ && is_floating)) add(tensor, false);
  });
}

void TensorAccesses::writes_new(const at::Tensor& result) { add(result, true); }

void TensorAccesses::writes_argument(const at::Tensor& argument) {
  if (!chooses_elements_) add(argument, true);
}

void TensorAccesses::add(const at::Tensor& tensor, bool writes) {
  if (tensor.numel() == 0) return;
  const auto [dims, bytes] = tensor_accesses::pieces_of(tensor);
  std::int64_t pieces = 1;
  for (const tensor_accesses::Dim& dim : dims) pieces *= dim.size;
  if (pieces > tensor_accesses::kMostPieces) return;
  const auto* const begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    std::int64_t offset = 0;
    std::int64_t rest = piece;
    for (const tensor_accesses::Dim& dim : dims) {
      offset += rest % dim.size * dim.stride;
      rest /= dim.size;
    }
    all_.push_back({begin + offset, static_cast<std::size_t>(bytes), writes ? 1 : 0});
  }
}

}  // namespace opgate::simulator::aten
