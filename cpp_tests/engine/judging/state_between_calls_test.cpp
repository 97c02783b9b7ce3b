// An operator that leaves state of the process changed is itself reported, and no operator after it fails for
// it.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/rand.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <utility>

#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::state_between_calls_test {
namespace {

using ::testing::HasSubstr;
using testing::spec_of;

struct Kind {
  const char* op;
  void (*leave)();
  const char* told;
};

constexpr std::array kKinds{
    Kind{"grad_mode", [] { c10::AutogradState::get_tls_state().set_grad_mode(false); }, "grad mode is off"},
    Kind{"inference_mode", [] { c10::AutogradState::get_tls_state().set_inference_mode(true); },
         "inference mode is on"},
    Kind{"forward_mode", [] { c10::AutogradState::get_tls_state().set_fw_grad_mode(false); },
         "forward-mode autograd is off"},
    Kind{"threads", [] { at::set_num_threads(at::get_num_threads() + 1); }, "intra-op threads"},
    Kind{"default_dtype", [] { c10::set_default_dtype(c10::scalarTypeToTypeMeta(c10::kDouble)); },
         "default dtype is Double"},
    Kind{"autocast", [] { at::autocast::set_autocast_enabled(c10::kCPU, true); }, "autocast on CPU is on"},
    Kind{"autocast_of_cuda", [] { at::autocast::set_autocast_enabled(c10::kCUDA, true); },
         "autocast on CUDA is on"},
    Kind{"autocast_dtype", [] { at::autocast::set_autocast_dtype(c10::kCPU, c10::kHalf); },
         "the dtype of autocast on CPU is Half"},
    Kind{"deterministic", [] { at::globalContext().setDeterministicAlgorithms(true, false); },
         "use_deterministic_algorithms is on"},
    Kind{"random", [] { at::rand({3}); }, "changes the state of the default generator"},
    Kind{"locale", [] { std::setlocale(LC_ALL, "C.UTF-8"); }, "the locale is C.UTF-8"},
    Kind{"rounding", [] { std::fesetround(FE_UPWARD); }, "rounding mode"},
    Kind{"signals", [] { std::signal(SIGUSR1, SIG_IGN); },
         "the handler of signal 10 (User defined signal 1)"},
    Kind{"keys", [] { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::Python, true); },
         "a dispatch key was left included or excluded"},
};

at::Tensor doubled(const at::Tensor& x) {
  const bool taken = x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble;
  TORCH_CHECK(taken, "x must be float32 or float64, got ", x.scalar_type());
  return x * 2;
}

template <size_t kind>
at::Tensor untidy(const at::Tensor& x) {
  at::Tensor out = doubled(x);
  kKinds[kind].leave();
  return out;
}

template <size_t... kind>
void define_all(torch::Library& library, std::index_sequence<kind...>) {
  const auto define = [&](const char* name, auto kernel) {
    library.def((std::string(name) + "(Tensor x) -> Tensor").c_str());
    library.impl(name, torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, kernel));
  };
  (define(kKinds[kind].op, &untidy<kind>), ...);
  define("tidy", &doubled);
}

TORCH_LIBRARY(opgate_untidy, library) { define_all(library, std::make_index_sequence<kKinds.size()>()); }

Spec spec_named(const std::string& op) {
  Spec spec = spec_of("opgate_untidy::" + op, {{uniform({4, 6})}}, {c10::kFloat, c10::kDouble});
  SpecWriter writer(spec);
  writer.reference([](const at::Tensor& x) { return x * 2; });
  writer.promises({deterministic, differentiable});
  fit_to_schema(spec);
  return spec;
}

using Judged = std::map<std::string, std::vector<Judgement>>;

// All native checks on all calls of one spec, by check, as a worker judges them.
Judged judge_all(const Spec& spec, const std::vector<Check>& checks) {
  const std::vector<Spec> specs{spec};
  const Plan plan = make_plan(specs, checks);
  WorkerCache cache;
  Judged judged;
  for (const PlannedCall& call : plan.calls) {
    for (auto& [check, judgement] : judge_call(call.key, call.checks, cache))
      judged[check].push_back(judgement);
  }
  return judged;
}

std::string text_of(const Judgement& judgement) {
  return judgement.reason + (judgement.finding ? judgement.finding->happened : "");
}

void expect_all_pass(const Judged& judged, const std::string& when) {
  EXPECT_GT(judged.size(), 10u);
  for (const auto& [check, judgements] : judged) {
    for (const Judgement& judgement : judgements)
      EXPECT_EQ(judgement.verdict, Verdict::pass) << when << ", " << check << ": " << text_of(judgement);
  }
}

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.op; }

// Handlers of signals are looked at in contiguous calls only; everything else in every layout.
void expect_told(const Judged& judged, const std::string& op, const std::string& told) {
  size_t failed = 0;
  for (const Judgement& judgement : judged.at("effect.state")) {
    if (judgement.verdict != Verdict::fail) continue;
    ++failed;
    EXPECT_THAT(text_of(judgement), HasSubstr(told)) << op;
  }
  EXPECT_GE(failed, op == "signals" ? 1u : judged.at("effect.state").size()) << op;
}

class StateBetweenCalls : public ::testing::TestWithParam<Kind> {
 protected:
  StateBetweenCalls() : checks_(native_checks()) {
    // Those that need a device, many seconds, or threads have nothing to do with the state of this one.
    std::erase_if(checks_, [](const Check& check) {
      return check.scope.device.value_or(Scope::Device::cpu) != Scope::Device::cpu || check.needs_package ||
             check.name == "memory.leak" || check.name == "value.index64";
    });
  }
  std::vector<Check> checks_;
};

TEST_P(StateBetweenCalls, IsToldOfItsOperatorAlone) {
  const Spec wrong = spec_named(GetParam().op), right = spec_named("tidy");
  expect_all_pass(judge_all(right, checks_), "before it");
  const Judged judged = judge_all(wrong, checks_);
  expect_all_pass(judge_all(right, checks_), "after it");
  expect_told(judged, GetParam().op, GetParam().told);
}

INSTANTIATE_TEST_SUITE_P(Each, StateBetweenCalls, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.op); });

TEST(StateInEveryOrder, IsToldOfItsOperatorAlone) {
  std::vector<Check> checks = native_checks();
  std::erase_if(checks, [](const Check& check) {
    return check.name != "effect.state" && check.name != "grad.reference" && check.name != "value.reference";
  });
  std::vector<std::string> order{"tidy"};
  for (const Kind& kind : kKinds) order.emplace_back(kind.op);
  for (size_t rotation = 0; rotation < order.size(); ++rotation) {
    std::ranges::rotate(order, order.begin() + 1);
    if (rotation % 2 == 1) std::ranges::reverse(order);
    for (const std::string& op : order) {
      const Judged judged = judge_all(spec_named(op), checks);
      if (op == "tidy") {
        for (const Judgement& judgement : judged.at("effect.state"))
          EXPECT_EQ(judgement.verdict, Verdict::pass) << text_of(judgement);
      } else {
        expect_told(judged, op, "");
      }
      for (const Judgement& judgement : judged.at("value.reference"))
        EXPECT_EQ(judgement.verdict, Verdict::pass) << op << ": " << text_of(judgement);
    }
  }
}

}  // namespace
}  // namespace opgate::state_between_calls_test
