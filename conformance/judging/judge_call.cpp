#include "judging/judge_call.h"

#include <c10/util/Exception.h>
#include <opgate/error.h>

#include <algorithm>

#include "compare/kept_results.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// Facts are kept of operators only, and in the dtypes that their specs declare.
bool is_declared(const CallKey& key) {
  const auto declared = key.spec->dtypes.find(key.device);
  return key.spec->op && declared != key.spec->dtypes.end() &&
         std::ranges::find(declared->second, key.dtype) != declared->second.end();
}

}  // namespace

std::map<std::string, Judgement> judge_call(const CallKey& key, const std::vector<const Check*>& checks,
                                            WorkerCache& cache, std::optional<CallFacts>* facts) {
  std::map<std::string, Judgement> judgements;
  try {
    demand_same_schema(*key.spec);
  } catch (const SpecError& error) {
    for (const Check* check : checks) judgements[check->name] = Judgement::invalid(error.what());
    return judgements;
  }
  CallUnderTest under_test(key, cache);
  for (const Check* check : checks) {
    try {
      const auto untried =
          check->needs_package ? under_test.packages().not_tried(key.device, call_id(key)) : std::nullopt;
      judgements[check->name] = untried ? Judgement::owed(*untried) : check->judge(under_test);
    } catch (const SetupError& error) {
      judgements[check->name] = Judgement::invalid(error.what());
    } catch (const c10::Error& error) {
      judgements[check->name] =
          Judgement::invalid(std::string("OpGate itself failed: ") + error.what_without_backtrace());
    } catch (const std::exception& error) {  // an error in one check must not cost the others their verdict
      judgements[check->name] = Judgement::invalid(std::string("OpGate itself failed: ") + error.what());
    }
  }
  if (facts != nullptr && under_test.was_observed() && is_declared(key)) {
    *facts = facts_of(under_test);
    if (!cache.outputs_folder.empty() && !(*facts)->values.empty())
      keep_results(cache.outputs_folder, call_id(key), compared_results(under_test));
  }
  return judgements;
}

}  // namespace opgate
