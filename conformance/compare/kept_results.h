// What calls returned, kept as files beside the results of a run, so that the gate can compare two runs
// element by element, or as text in the manifest of a package.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// Keeps the tensors that the call returned in a file of `folder`, which torch.load reads, too. Undefined
/// tensors, and those that are not strided, are kept as None. Nothing is kept where the tensors have more
/// than 4 MiB together. Throws SetupError if the file cannot be written.
void keep_results(const std::filesystem::path& folder, const std::string& call_id,
                  const std::vector<at::Tensor>& tensors);

/// The tensors that were kept, on the CPU; nothing if there is no file of that call. Throws SetupError for a
/// file that keep_results() did not write.
std::optional<std::vector<at::Tensor>> kept_results(const std::filesystem::path& folder,
                                                    const std::string& call_id);

/// The tensors, which must be defined and strided, as hexadecimal digits.
std::string results_as_text(const std::vector<at::Tensor>& tensors);

/// The inverse of results_as_text(), on the CPU. Throws SetupError for any other text.
std::vector<at::Tensor> results_from_text(std::string_view text);

}  // namespace opgate
