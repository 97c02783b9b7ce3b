// run.modes: the call gives the same in inference mode, for inputs that require gradients, with deterministic
// algorithms and under autocast as without them.
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "base/text.h"
#include "device/device.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/registration.h"

namespace opgate::run_modes {
namespace {

// Casts the inputs of matrix products, convolutions and the like to bfloat16 for as long as it lives.
class Autocast {
 public:
  explicit Autocast(c10::DeviceType device)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        was_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, c10::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, was_enabled_);
    at::autocast::set_autocast_dtype(device_, was_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  bool was_enabled_;
  c10::ScalarType was_;
};

// Asks for deterministic algorithms for as long as it lives.
class DeterministicAlgorithms {
 public:
  DeterministicAlgorithms()
      : were_(at::globalContext().deterministicAlgorithms()),
        only_warned_(at::globalContext().deterministicAlgorithmsWarnOnly()),
        filled_(at::globalContext().deterministicFillUninitializedMemory()) {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
    // memory.uninitialised fills memory itself.
    at::globalContext().setDeterministicFillUninitializedMemory(false);
  }
  ~DeterministicAlgorithms() {
    at::globalContext().setDeterministicAlgorithms(were_, only_warned_);
    at::globalContext().setDeterministicFillUninitializedMemory(filled_);
  }
  DeterministicAlgorithms(const DeterministicAlgorithms&) = delete;
  DeterministicAlgorithms& operator=(const DeterministicAlgorithms&) = delete;

 private:
  bool were_;
  bool only_warned_;
  bool filled_;
};

Judgement judge_mode(CallUnderTest& under_test, const Outcome& got, const std::string& mode,
                     const std::string& likely) {
  const std::string promised = "the same result as without " + mode;
  if (!got.ok())
    return Judgement::fail(
        {promised, fmt::format("with {}, the call raised: {}", mode, got.raised->message), likely});
  const Outcome& want = under_test.observed().outcome;
  if (const auto difference = metadata_difference(got, want))
    return Judgement::fail({promised, fmt::format("with {}, {}, as without it", mode, *difference), likely});
  Judgement judgement = judge_same(under_test, got, want, /*bits=*/false, promised);
  if (!judgement.finding) return judgement;
  judgement.finding->happened = fmt::format("with {}: {}", mode, judgement.finding->happened);
  judgement.finding->likely = likely;
  return judgement;
}

// Autocast is meant for operators that are composed of others, and for those that have registered a kernel
// for it.
bool has_rule_for_autocast(const c10::OperatorHandle& op, c10::DeviceType device) {
  const auto key = autocast_key(device);
  return key && (is_composite(op) || op.hasKernelForDispatchKey(*key));
}

// An operator without a deterministic algorithm raises there, as at::Context::alertNotDeterministic() does.
Judgement judge_deterministic(CallUnderTest& under_test) {
  const DeterministicAlgorithms mode;
  const Outcome call =
      observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}).outcome;
  if (!call.ok() && contains_ignoring_case(call.raised->message, "deterministic")) return Judgement::pass();
  return judge_mode(under_test, call, "deterministic algorithms",
                    "the branch for at::globalContext().deterministicAlgorithms() is wrong");
}

// The forward of an autograd function is code of its own, which calls without gradients never run. What it
// raises is the matter of the checks of gradients.
Judgement judge_with_gradients(CallUnderTest& under_test) {
  const Observation* call = under_test.observed_with_gradients();
  if (call == nullptr || !call->outcome.ok()) return Judgement::pass();
  return judge_mode(under_test, call->outcome, "inputs that require gradients",
                    "the forward of the autograd function computes something else than the kernel");
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const auto call = [&] {
    return observe(key, under_test.cache().values, {.take_snapshots = false}).outcome;
  };
  const auto in_inference_mode = [&] {
    const c10::InferenceMode mode;
    return call();
  };
  Judgement judgement = judge_mode(under_test, in_inference_mode(), "inference mode",
                                   "the kernel is registered for Autograd alone, which inference mode passes "
                                   "by: register it for the device");
  if (judgement.verdict != Verdict::pass) return judgement;
  judgement = judge_with_gradients(under_test);
  if (judgement.verdict != Verdict::pass) return judgement;
  judgement = judge_deterministic(under_test);
  if (judgement.verdict != Verdict::pass || has_rule_for_autocast(under_test.op(), key.device))
    return judgement;
  const auto under_autocast = [&] {
    const Autocast mode(key.device);
    return call();
  };
  return judge_mode(
      under_test, under_autocast(), "autocast",
      "the kernel calls at::matmul, at::linear or a convolution, which autocast casts; exclude the dispatch "
      "keys of autocast around them, or register a kernel for autocast that says what is cast");
}

OPGATE_REGISTER_CHECK(run_modes, {.name = "run.modes",
                                  .scope = {.variants = Scope::Variants::contiguous,
                                            .dtypes = Scope::Dtypes::first,
                                            .first_sample = true,
                                            .reference = true,
                                            .replaced_too = true},
                                  .judge = &judge});

}  // namespace
}  // namespace opgate::run_modes
