// Changes of the process state that an operator leaves behind are found, named and undone.
#include "process/process_state.h"
#include "process/default_generator.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <functional>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace opgate::process_state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The changes that are found after `change`; also expects them to be undone.
std::vector<std::string> changes_of(const std::function<void()>& change) {
  const ProcessState state(c10::kCPU);
  change();
  std::vector<std::string> seen = state.changes();
  state.restore();
  EXPECT_THAT(state.changes(), IsEmpty());
  return seen;
}

TEST(ProcessState, IsTheSameWhereNothingHappened) {
  EXPECT_THAT(changes_of([] {}), IsEmpty());
}

TEST(ProcessState, NamesWhatIsOtherwise) {
  EXPECT_THAT(changes_of([] { c10::GradMode::set_enabled(false); }), ElementsAre("grad mode is off, was on"));
  EXPECT_THAT(changes_of([] { c10::set_default_dtype(c10::scalarTypeToTypeMeta(c10::kDouble)); }),
              ElementsAre("the default dtype is Double, was Float"));
  EXPECT_THAT(changes_of([] { at::set_num_threads(at::get_num_threads() + 1); }),
              ElementsAre(HasSubstr("the number of intra-op threads")));
  EXPECT_THAT(changes_of([] { std::fesetround(FE_UPWARD); }), ElementsAre(HasSubstr("rounding mode")));
  EXPECT_THAT(changes_of([] { at::globalContext().setDeterministicAlgorithms(true, false); }),
              ElementsAre("use_deterministic_algorithms is on, was off"));
}

TEST(ProcessState, SeesADispatchKeyThatStaysExcluded) {
  EXPECT_THAT(changes_of([] { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::Python, true); }),
              ElementsAre(HasSubstr("a dispatch key was left included or excluded")));
}

#if defined(__x86_64__)
TEST(ProcessState, SeesFlushedDenormals) {
  EXPECT_THAT(changes_of([] { _mm_setcsr(_mm_getcsr() | 0x8000u); }),
              ElementsAre(HasSubstr("flush-to-zero")));
}
#endif

TEST(ProcessState, DoesNotTakeAFloatingPointFlagForAMode) {
  EXPECT_THAT(changes_of([] {
                volatile float tiny = 1e-30F;
                tiny = tiny * tiny;  // sets the sticky underflow flag
              }),
              IsEmpty());
}

TEST(ProcessState, KnowsWhetherNumbersWereDrawn) {
  const ProcessState state(c10::kCPU);
  EXPECT_FALSE(state.drew_random_numbers());
  static_cast<void>(at::rand({1}));
  EXPECT_TRUE(state.drew_random_numbers());
}

TEST(ProcessState, KnowsThatTheSecondOfAPairOfNormalNumbersWasTaken) {
  seed_default_generator(c10::kCPU);
  static_cast<void>(at::randn({1}, c10::kDouble));
  const ProcessState state(c10::kCPU);
  static_cast<void>(at::randn({1}, c10::kDouble));
  EXPECT_TRUE(state.drew_random_numbers());
}

TEST(SeedDefaultGenerator, MakesCallsRepeatable) {
  seed_default_generator(c10::kCPU);
  const double first = at::rand({1}).item<double>();
  seed_default_generator(c10::kCPU);
  EXPECT_EQ(at::rand({1}).item<double>(), first);
}

}  // namespace
}  // namespace opgate::process_state_test
