#include "compare/kept_results.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <string_view>

#include "base/atomic_file.h"
#include "base/files.h"
#include "compare/elements.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 4 << 20;
constexpr size_t kNameDigits = 24;  // hexadecimal digits of the digest that names a file

// A digest, because ids hold characters that a file system may not take, and may be longer than it allows.
fs::path file_of(const fs::path& folder, const std::string& call_id) {
  return folder / (c10::sha1(call_id).str().substr(0, kNameDigits) + ".pt");
}

}  // namespace

void keep_results(const fs::path& folder, const std::string& call_id,
                  const std::vector<at::Tensor>& tensors) {
  size_t bytes = 0;
  std::vector<c10::IValue> kept;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.layout() != c10::kStrided || tensor.is_quantized()) {
      kept.emplace_back();
      continue;
    }
    bytes += tensor.nbytes();
    if (bytes > kMostBytes) return;
    // A copy, because the file would hold the whole storage of a view.
    kept.emplace_back(on_host(tensor.detach()).clone());
  }
  const std::vector<char> bytes_of_file =
      torch::jit::pickle_save(c10::ivalue::Tuple::create(std::move(kept)));
  AtomicFile(file_of(folder, call_id), std::string_view(bytes_of_file.data(), bytes_of_file.size())).commit();
}

std::optional<std::vector<at::Tensor>> kept_results(const fs::path& folder, const std::string& call_id) {
  const fs::path file = file_of(folder, call_id);
  if (!fs::exists(file)) return std::nullopt;
  const std::string content = content_of(file);
  try {
    const c10::IValue read = torch::jit::pickle_load({content.begin(), content.end()});
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& element : read.toTupleRef().elements())
      tensors.push_back(element.isTensor() ? element.toTensor() : at::Tensor());
    return tensors;
  } catch (const c10::Error& error) {
    throw SetupError(fmt::format("{} does not hold the results of a call ({}); run again", file.string(),
                                 error.what_without_backtrace()));
  }
}

}  // namespace opgate
