#include "judging/calls/judge_call.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>

#include "compare/kept_results.h"
#include "device/simulator.h"
#include "memory/guard_pages.h"
#include "packages/package_folder.h"
#include "process/libraries/replaced_kernels.h"
#include "process/process_state.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

// Facts are kept of operators only, and in the dtypes that their specs declare.
bool is_declared(const CallKey& key) {
  const auto declared = key.spec->dtypes.find(key.device);
  return key.spec->op && declared != key.spec->dtypes.end() &&
         std::ranges::find(declared->second, key.dtype) != declared->second.end();
}

// The state of the process and its signal handlers, which the checks of a call may leave changed.
class RestoredState {
 public:
  explicit RestoredState(c10::DeviceType device)
      : before_(device, ProcessState::Extent::without_signals_and_random) {
    remember_signal_handlers();
  }
  ~RestoredState() {
    restore_signal_handlers();
    before_.restore_or_end();
  }
  RestoredState(const RestoredState&) = delete;
  RestoredState& operator=(const RestoredState&) = delete;

 private:
  const ProcessState before_;
};

}  // namespace

Judgement crash_of(const DeviceFailed& failed) {
  Judgement crash = Judgement::crash(failed.ended(), failed.ended());
  if (!failed.detail().empty()) crash.add_remark(failed.detail());
  if (!failed.frame().empty()) crash.stack.push_back(failed.frame());
  return crash;
}

namespace {

// Some of torch's own kernels break promises, too, such as the strides that their fake kernels announce. A
// kernel that replaces one need not keep them either.
bool is_broken_by_torch(const CallKey& key, const Check& check, const WorkerCache& cache) {
  const KernelScope scope(Purpose::call_of_torch);
  WorkerCache own = cache;
  own.dense_call.clear();  // it is a call of the other kernel
  CallUnderTest of_torch(key, own);
  return check.judge(of_torch).finding.has_value();
}

Judgement judged(CallUnderTest& under_test, const Check& check, WorkerCache& cache) {
  Judgement judgement = check.judge(under_test);
  const bool replaces = under_test.key().spec->replaces_kernel();
  if (!replaces || judgement.verdict != Verdict::fail) return judgement;
  if (!is_broken_by_torch(under_test.key(), check, cache)) return judgement;
  return Judgement::note(fmt::format("torch's own kernel does not keep this promise here either: {}",
                                     judgement.finding->happened));
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
  guard::install();
  guard_pages::report_faults();  // its handlers must not look like a change that a check has made
  const KernelScope scope(Purpose::own_computing);
  const BlockOrders orders(block_orders_of(key));
  CallUnderTest under_test(key, cache);
  const bool on_device = std::ranges::any_of(checks, &Check::needs_device);
  const RestoredState restored(on_device ? key.device : c10::kCPU);
  for (const Check* check : checks) {
    try {
      Circumstances known{.in_worker = &key};
      if (check->needs_package) known.no_package = under_test.packages().not_tried(key.device, call_id(key));
      const auto obstacle = obstacle_to(*key.spec, *check, known);
      judgements[check->name] =
          obstacle ? Judgement::owed(obstacle->reason) : judged(under_test, *check, cache);
    } catch (const DeviceFailed& failed) {
      judgements[check->name] = crash_of(failed);
    } catch (const NotSimulated& missing) {
      judgements[check->name] = Judgement::owed(missing.what());
    } catch (const UnreadableResult& unreadable) {
      judgements[check->name] = Judgement::owed(unreadable.what());
    } catch (const ResultWithoutValues& error) {
      judgements[check->name] =
          Judgement::fail({"results are on the device of the arguments", error.what(),
                           "the kernel for meta tensors is registered for this device, too, or a "
                           "result is allocated with another tensor's options"});
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
