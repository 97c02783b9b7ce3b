// An accelerator that OpGate does not know yet: one class that registers itself, and everything else follows.
#include "device/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include <cstdlib>
#include <iostream>

#include "device/device.h"
#include "gate/partial.h"
#include "inputs/call_key.h"
#include "judging/all_checks.h"
#include "judging/refusals/clear_message.h"
#include "libraries/made_up_device/made_up_device.h"
#include "plan/plan.h"
#include "process/libraries/load_failure.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::accelerator_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

const char* const kCall = "relu/float32/4/contiguous/privateuseone";

Spec relu() {
  Spec spec = testing::spec_of("aten::relu", {{uniform({4})}}, {c10::kFloat});
  SpecWriter(spec).dtypes({c10::kFloat});  // on every device
  return spec;
}

TEST(Accelerators, OfCudaIsKnownOnEveryMachine) {
  EXPECT_THAT(device_types(), ElementsAre(c10::kCPU, c10::kCUDA));
  EXPECT_THAT(device_type_names(), ElementsAre("cpu", "cuda"));
  EXPECT_EQ(kernel_key(c10::kCPU), c10::DispatchKey::CPU);
  EXPECT_EQ(kernel_key(c10::kCUDA), c10::DispatchKey::CUDA);
  EXPECT_EQ(autograd_key(c10::kCUDA), c10::DispatchKey::AutogradCUDA);
  EXPECT_EQ(autocast_key(c10::kCUDA), c10::DispatchKey::AutocastCUDA);
  EXPECT_EQ(device_title(c10::kCUDA), "CUDA");
  EXPECT_EQ(autocast_key(c10::kHIP), std::nullopt) << "torch has none, and raises where it is asked for one";
}

TEST(Accelerators, ThatNobodyRegisteredAreRefusedByName) {
  EXPECT_EQ(device_type_named("privateuseone"), std::nullopt);
  EXPECT_THAT(message_of<SetupError>([] { missing_device(c10::kPrivateUse1); }), HasSubstr("privateuseone"));
  EXPECT_THAT(message_of<SpecError>([] { known_device("tpu"); }),
              AllOf(HasSubstr("'tpu'"), HasSubstr("cpu, cuda")));
  std::vector<Spec> specs;
  specs.push_back(relu());
  EXPECT_THAT(message_of<SetupError>([&] { parse_call_id(specs, kCall); }),
              HasSubstr("none of the devices cpu, cuda, sim"));
}

size_t planned_for(const std::vector<Spec>& specs, const std::string& check) {
  return make_plan(specs, native_checks(), {{}, {check}, {"privateuseone"}, {}}).cases();
}

// In a process of its own, because nothing forgets what is registered.
TEST(Accelerators, ThatAreRegisteredTakePart) {
  const auto use = [] {
    opgate_made_up::Device made_up;
    register_accelerator(made_up);
    std::vector<Spec> specs;
    specs.push_back(relu());
    const CallKey key = parse_call_id(specs, kCall);
    std::cerr << call_id(key) << "; " << missing_device(key.device).value() << "; "
              << device_title(key.device) << "; " << c10::toString(kernel_key(key.device)) << "; "
              << specs[0].dtypes.contains(key.device) << "\n";
    std::_Exit(0);
  };
  EXPECT_EXIT(use(), ::testing::ExitedWithCode(0),
              std::string(kCall) + "; nobody has built one; PrivateUse1; PrivateUse1; 1");
}

TEST(Accelerators, ThatAreRegisteredArePlannedAndNamedInMessages) {
  const auto use = [] {
    opgate_made_up::Device made_up;
    register_accelerator(made_up);
    std::vector<Spec> specs;
    specs.push_back(relu());
    std::cerr << planned_for(specs, "value.reference") << "; " << planned_for(specs, "run.stream") << "; "
              << planned_for(specs, "value.device") << "; " << useless_message("made-up error 7").value()
              << "; " << is_symbol_of_accelerator("madeup_launch") << "; "
              << explained({"", "", "libmadeup.so.1"}, "libops.so") << "\n";
    std::_Exit(0);
  };
  EXPECT_EXIT(
      use(), ::testing::ExitedWithCode(0),
      "1; 1; 1; an assert of a PrivateUse1 kernel names nothing, and leaves the device unusable; 1; "
      "library libops.so cannot be loaded: it needs libmadeup.so.1, which is not found; it belongs to "
      "PrivateUse1: install the PrivateUse1 version");
}

TEST(Accelerators, ThatAreRegisteredKeepTheirKernelsInTheLedger) {
  const auto use = [] {
    opgate_made_up::Device made_up;
    register_accelerator(made_up);
    State base, head;
    base["relu"].facts.kernels = {"CPU", "PrivateUse1", "AutogradPrivateUse1"};
    head["relu"].facts.kernels = {"CPU"};
    const KeptKernels kept = keep_unchecked_devices(base, head);
    std::cerr << (kept == KeptKernels{{c10::kPrivateUse1, 2}}) << "; "
              << (head["relu"].facts.kernels == base["relu"].facts.kernels) << "\n";
    std::_Exit(0);
  };
  EXPECT_EXIT(use(), ::testing::ExitedWithCode(0), "1; 1");
}

}  // namespace
}  // namespace opgate::accelerator_test
