#include "compare/agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtypes.h"
#include "base/sha1.h"
#include "compare/comparison.h"
#include "compare/elements.h"
#include "compare/float_format.h"
#include "layouts/geometry.h"
#include "process/libraries/replaced_kernels.h"

namespace opgate {
namespace {

bool both_floating(const at::Tensor& a, const at::Tensor& b) {
  return float_format(a.scalar_type()) && float_format(b.scalar_type()) && a.is_complex() == b.is_complex();
}

}  // namespace

std::string output_name(size_t i, size_t count) {
  return count == 1 ? "the output" : fmt::format("output {}", i);
}

AgreementResult compare_lists(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                              const Agreement& agreement) {
  const KernelScope scope(Purpose::own_computing);
  const size_t count = got.size();
  AgreementResult result;
  if (count != want.size()) {
    result.disagreement = {fmt::format("{} tensors returned, not {}", count, want.size()), {}, false};
    return result;
  }
  for (size_t i = 0; i < count; ++i) {
    const at::Tensor& mine = got[i];
    at::Tensor theirs = want[i];
    const bool widened =
        mine.scalar_type() != theirs.scalar_type() && agreement.rounding == Rounding::to_output;
    if (widened && agreement.accuracy.exact && both_floating(mine, theirs))
      theirs = theirs.to(mine.scalar_type());
    // Only a reference may have another dtype. Between two runs of one operator, another dtype is a
    // difference.
    const bool comparable = widened || mine.scalar_type() == theirs.scalar_type();
    const at::Tensor scale = agreement.scales.empty() ? at::Tensor() : agreement.scales.at(i);
    const Comparison comparison = compare(mine, theirs, comparable ? agreement.accuracy : exact(), scale);
    if (!comparison.unlike && agreement.unspecified.contains(i)) continue;
    if (!comparison.within()) {
      const std::string where = count == 1 ? "" : output_name(i, count) + ": ";
      result.disagreement = {where + difference_text(comparison, mine, theirs),
                             neighbourhood(comparison, mine, theirs), !comparison.unlike};
      return result;
    }
    result.worst_ulps = std::max(result.worst_ulps, comparison.worst_ulps);
  }
  return result;
}

std::string digest(const std::vector<at::Tensor>& tensors) {
  std::string bytes;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      bytes += "none;";
      continue;
    }
    const at::Tensor host = on_host(tensor);
    bytes += fmt::format("{}{};", dtype_name(host.scalar_type()), index_text(host.sizes()));
    bytes.append(static_cast<const char*>(host.const_data_ptr()), host.nbytes());
  }
  return sha1_of(bytes);
}

}  // namespace opgate
