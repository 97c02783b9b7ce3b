#include "gate/value_differences.h"

#include <fmt/format.h>

#include "compare/kept_results.h"
#include "gate/rule.h"
#include "layouts/layout.h"

namespace opgate {
namespace {

std::filesystem::path outputs_of(const RunState& run) { return run.file.parent_path() / "outputs"; }

}  // namespace

std::string contiguous_call(const std::string& id, const std::string& dtype, const std::string& sample,
                            const std::string& device) {
  return fmt::format("{}/{}/{}/{}/{}", id, dtype, sample, kContiguous, device);
}

ValueDifferences value_differences(const Change& change) {
  ValueDifferences differences;
  if (change.base_run == nullptr) return differences;
  for (const auto& [id, subject] : change.base) {
    for (const auto& [device, state] : subject.devices) {
      for (const auto& [sample, by_dtype] : state.values) {
        const RunState* head = run_on_base_sample(change, id, sample);
        if (head == nullptr) continue;
        for (const auto& [dtype, summary] : by_dtype) {
          const std::string call = contiguous_call(id, dtype, sample, device);
          const auto then = kept_results(outputs_of(*change.base_run), call);
          const auto now = then ? kept_results(outputs_of(*head), call) : std::nullopt;
          if (!now) continue;
          if (const auto difference = difference_of(*then, *now)) differences[call] = *difference;
        }
      }
    }
  }
  return differences;
}

}  // namespace opgate
