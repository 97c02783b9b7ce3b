#include "compare/kept_results.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/pickle.h"
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

std::vector<char> in_one(std::vector<c10::IValue> tensors) {
  return pickled(c10::ivalue::Tuple::create(std::move(tensors)));
}

// A copy, because the pickle would hold the whole storage of a view.
c10::IValue own_copy(const at::Tensor& tensor) { return on_host(tensor.detach()).clone(); }

// `origin` is named if the bytes are not what in_one() returns.
std::vector<at::Tensor> tensors_in(const std::vector<char>& bytes, const std::string& origin) {
  try {
    const c10::IValue read = unpickled(bytes);
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& element : read.toTupleRef().elements())
      tensors.push_back(element.isTensor() ? element.toTensor() : at::Tensor());
    return tensors;
  } catch (const c10::Error& error) {
    throw setup_error("{} does not hold the results of a call ({}); run again", origin,
                      error.what_without_backtrace());
  }
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
    kept.push_back(own_copy(tensor));
  }
  const std::vector<char> bytes_of_file = in_one(std::move(kept));
  AtomicFile(file_of(folder, call_id), std::string_view(bytes_of_file.data(), bytes_of_file.size())).commit();
}

std::optional<std::vector<at::Tensor>> kept_results(const fs::path& folder, const std::string& call_id) {
  const fs::path file = file_of(folder, call_id);
  if (!fs::exists(file)) return std::nullopt;
  const std::string content = content_of(file);
  return tensors_in({content.begin(), content.end()}, file.string());
}

std::string results_as_text(const std::vector<at::Tensor>& tensors) {
  std::vector<c10::IValue> kept;
  for (const at::Tensor& tensor : tensors) kept.push_back(own_copy(tensor));
  std::string text;
  for (const char byte : in_one(std::move(kept)))
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::vector<at::Tensor> results_from_text(std::string_view text) {
  std::vector<char> bytes;
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    unsigned char byte = 0;
    std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return tensors_in(bytes, "the manifest of a package");
}

}  // namespace opgate
