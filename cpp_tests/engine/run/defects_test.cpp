// Broken cases are sorted by their causes. Each attribution has its opposite beside it: two mistakes of one
// operator, where the attribution would be wrong, stay two.
#include "defects/defect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judging/fault.h"

namespace opgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Judgement fault_of(std::string_view kind, std::string about = "", std::string differs = "") {
  return Judgement::fail(
      {"a promise", "something else", "", {std::string(kind), std::move(about), std::move(differs)}});
}
Judgement other_values(std::string_view kind = "", std::string about = "") {
  return fault_of(kind, std::move(about), "values");
}
Judgement raised() { return fault_of(""); }
Judgement crash(const std::string& signal, std::vector<std::string> stack = {}) {
  Judgement judgement =
      Judgement::crash(fmt::format("the native worker ended: {} (in words)", signal), signal);
  judgement.stack = std::move(stack);
  return judgement;
}

class DefectsTest : public ::testing::Test {
 protected:
  // CALL is DTYPE/SAMPLE/VARIANT of the operator.
  void add(const std::string& check, const std::string& call, const Judgement& judgement) {
    defects_.add(fmt::format("op/{}/cpu/{}", call, check), judgement);
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const Defect& defect : defects_.found())
      all.push_back(defect.id.substr(std::string("op/cpu/").size()));
    return all;
  }

  Defects defects_;
};

constexpr auto kPlain = "float32/4x6/contiguous";
constexpr auto kStepped = "float32/4x6/x=stepped";

TEST_F(DefectsTest, WhatIsWrongForEmptyTensorsIsWrongWhereOneOfThemIsEmpty) {
  add("value.empty", "float32/4x6/size6=0", fault_of("", "", "metadata"));
  add("error.raises", "float32/4x6/bad:x.size0=0", fault_of("", "", "metadata"));
  EXPECT_THAT(ids(), ElementsAre("value.empty"));
}

TEST_F(DefectsTest, ButNotForOtherBadInputsNorOtherFaults) {
  add("value.empty", "float32/4x6/size6=0", fault_of("", "", "metadata"));
  add("error.raises", "float32/4x6/bad:x.size0+1", fault_of("", "", "metadata"));
  EXPECT_THAT(ids(), UnorderedElementsAre("value.empty", "error.raises"));
  add("error.raises", "float32/4x6/bad:y.size0=0", other_values());
  EXPECT_THAT(ids(), UnorderedElementsAre("value.empty", "error.raises"));
}

TEST_F(DefectsTest, NothingBrokenIsNoDefect) { EXPECT_THAT(defects_.found(), IsEmpty()); }

TEST_F(DefectsTest, ACrashIsOneWhicheverCheckAskedForTheCall) {
  for (const char* check : {"effect.alias", "fake.metadata", "memory.bounds"})
    add(check, "float32/4x6/size6=0",
        crash("SIGFPE", {"rows_for_each at kernels.cpp:41", "op at kernels.cpp:60"}));
  EXPECT_THAT(ids(), ElementsAre("crash/SIGFPE in rows_for_each, called by op"));
}

TEST_F(DefectsTest, CrashesInOtherFunctionsOrByOtherSignalsAreOthers) {
  add("effect.alias", "float32/4x6/size6=0", crash("SIGFPE", {"rows_for_each at kernels.cpp:41"}));
  add("effect.alias", "float32/4x6/size4=0", crash("SIGSEGV", {"rows_for_each at kernels.cpp:41"}));
  add("effect.alias", kPlain, crash("SIGFPE", {"columns_for_each at kernels.cpp:50"}));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, WithoutAStackCrashesOfOneKindOfVariantAreOne) {
  add("effect.alias", "float32/4x6/size6=0", crash("SIGFPE"));
  add("effect.alias", "float64/4x6/size6=0", crash("SIGFPE"));
  add("error.raises", "float32/4x6/bad:k=0", crash("SIGFPE"));
  EXPECT_THAT(ids(), UnorderedElementsAre("crash/SIGFPE with other sizes", "crash/SIGFPE where `k` is bad"));
}

TEST_F(DefectsTest, WithoutAStackACrashOfTheSampleExplainsThoseThatEndAlike) {
  add("value.reference", kPlain, crash("exit status 3"));
  add("value.layout", kStepped, crash("exit status 3"));
  EXPECT_THAT(ids(), ElementsAre("crash/exit status 3"));
  add("value.layout", kStepped, crash("SIGSEGV"));
  add("value.layout", "float32/4x6/x=offset", crash("exit status 3", {"quit at kernels.cpp:1"}));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, ACrashInAFunctionThatIsInlinedElsewhereIsOne) {
  add("value.reference", kPlain, crash("SIGSEGV", {"pool at kernels.cpp:10", "op at kernels.cpp:30"}));
  add("value.reference", "float16/4x6/contiguous",
      crash("SIGSEGV", {"row<c10::Half> at kernels.cpp:2", "pool at kernels.cpp:10"}));
  add("value.reference", "float64/4x6/contiguous",
      crash("SIGSEGV", {"row<double> at kernels.cpp:2", "pool at kernels.cpp:10"}));
  EXPECT_THAT(ids(), ElementsAre("crash/SIGSEGV in pool, called by op"));
  add("value.empty", "float32/4x6/size6=0",
      crash("SIGFPE", {"row<float> at kernels.cpp:2", "pool at kernels.cpp:10"}));
  add("value.empty", "float32/4x6/size4=0",
      crash("SIGSEGV", {"column at kernels.cpp:2", "sum at kernels.cpp:10"}));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, TheDerivativeOfWrongValuesIsNoDefectOfItsOwn) {
  add("value.reference", kPlain, other_values(fault::kValues));
  add("grad.reference", kPlain, other_values(fault::kGradient, "x"));
  EXPECT_THAT(ids(), ElementsAre("values"));
  add("grad.numeric", kPlain, fault_of(fault::kGradient, "x"));  // it is not the operator's own slope, either
  EXPECT_THAT(ids(), UnorderedElementsAre("values", "gradient/x"));
}

TEST_F(DefectsTest, ALayoutExplainsOtherReadingsOfTheSameArgument) {
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("value.layout", "float32/4x6/all=stepped", other_values(fault::kLayout, "all"));
  add("value.index64", kPlain, other_values(fault::kLayout, "x"));
  add("memory.bounds", kStepped, other_values(fault::kReadsOutside));
  add("grad.reference", kStepped, other_values(fault::kGradient, "x"));
  add("aoti.cpp", kStepped, other_values());
  EXPECT_THAT(ids(), ElementsAre("layout/x"));
}

TEST_F(DefectsTest, ALayoutExplainsNothingOfAnotherArgument) {
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("value.layout", "float32/4x6/all=transposed", other_values(fault::kLayout, "all"));
  add("memory.bounds", "float32/4x6/y=stepped", other_values(fault::kReadsOutside));
  EXPECT_THAT(ids(), UnorderedElementsAre("layout/x", "layout/all", "reads outside"));
}

TEST_F(DefectsTest, ALayoutDoesNotExplainWhatContiguousInputShows) {
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("memory.bounds", kStepped, other_values(fault::kReadsOutside));
  add("memory.bounds", kPlain, other_values(fault::kReadsOutside));
  add("grad.reference", kStepped, other_values(fault::kGradient, "x"));
  add("grad.reference", kPlain, other_values(fault::kGradient, "x"));
  add("effect.mutation", kStepped, fault_of(fault::kMutation, "y"));
  EXPECT_THAT(ids(), UnorderedElementsAre("layout/x", "reads outside", "gradient/x", "mutation/y"));
}

TEST_F(DefectsTest, ACrashFarAwayIsOfTheLayout) {
  add("value.index64", kPlain, crash("SIGSEGV", {"op at kernels.cpp:1"}));
  EXPECT_THAT(ids(), ElementsAre("crash/SIGSEGV in op"));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  EXPECT_THAT(ids(), ElementsAre("layout/x"));
}

TEST_F(DefectsTest, MemoryExplainsTheValuesOfItsCallAndTheFaultAtAPage) {
  add("memory.bounds", kPlain, other_values(fault::kReadsOutside));
  add("memory.pages", kPlain, crash("SIGSEGV", {"op at kernels.cpp:1"}));
  add("value.reference", kPlain, other_values(fault::kValues));
  add("run.sequence", kPlain, other_values(fault::kValues));
  add("error.raises", "float32/4x6/bad:x.value=nan", other_values(fault::kReadsOutside));
  EXPECT_THAT(ids(), ElementsAre("reads outside"));
}

TEST_F(DefectsTest, MemoryDoesNotExplainTheValuesOfAnotherCall) {
  add("memory.bounds", "float32/3x7/contiguous", other_values(fault::kReadsOutside));
  add("value.reference", kPlain, other_values(fault::kValues));
  EXPECT_THAT(ids(), UnorderedElementsAre("reads outside", "values"));
}

TEST_F(DefectsTest, ACrashElsewhereIsNotTheFaultAtAPage) {
  add("memory.bounds", kPlain, other_values(fault::kReadsOutside));
  add("value.empty", "float32/4x6/size6=0", crash("SIGSEGV", {"op at kernels.cpp:1"}));
  EXPECT_EQ(ids().size(), 2u);
}

TEST_F(DefectsTest, AResultInForeignMemoryExplainsThatItChanges) {
  add("memory.lifetime", kPlain, other_values(fault::kDangling));
  add("run.threads", kPlain, other_values());
  add("memory.uninitialised", "float32/4x6/x=negated", other_values(fault::kUninitialised));
  add("effect.alias", kPlain, fault_of(fault::kAlias, "x"));
  EXPECT_THAT(ids(), ElementsAre("dangling"));
  add("error.message", "float32/4x6/bad:x.rank+1", fault_of(fault::kMessage, "no"));
  EXPECT_THAT(ids(), UnorderedElementsAre("dangling", "message/no"));
}

TEST_F(DefectsTest, WhatIsWrongAsItIsExplainsLaterChecksOfTheSample) {
  add("value.reference", kPlain, other_values(fault::kValues));
  add("value.special", kPlain, other_values());
  add("run.threads", kPlain, other_values());
  add("memory.lifetime", kPlain, other_values(fault::kKept));
  add("error.raises", "float32/4x6/bad:x.value=nan", other_values());
  EXPECT_THAT(ids(), ElementsAre("values"));
}

TEST_F(DefectsTest, WhatIsWrongAsItIsDoesNotExplainOtherSamplesOrLayouts) {
  add("value.reference", kPlain, other_values(fault::kValues));
  add("value.special", "float32/3x5/contiguous", other_values());
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("error.raises", "float32/4x6/bad:x.rank+1", fault_of(fault::kUnchecked));
  add("run.sequence", "float32/3x5/contiguous", other_values(fault::kKept));
  EXPECT_THAT(ids(), UnorderedElementsAre("values", "value.special", "layout/x", "unchecked", "kept"));
}

TEST_F(DefectsTest, ThreadsInPackagesAreNotExplainedByWrongValues) {
  add("value.reference", kPlain, other_values(fault::kValues));
  add("aoti.threads", kPlain, raised());
  EXPECT_THAT(ids(), UnorderedElementsAre("values", "aoti.threads"));
}

TEST_F(DefectsTest, UnstableResultsExplainComparisonsOfRuns) {
  add("run.deterministic", kPlain, other_values(fault::kUnstable));
  add("memory.bounds", "float32/3x7/contiguous", other_values(fault::kReadsOutside));
  add("export.graph", kPlain, other_values());
  add("error.raises", "float32/4x6/bad:x.rank+1", other_values(fault::kKept));
  EXPECT_THAT(ids(), ElementsAre("unstable"));
}

TEST_F(DefectsTest, UnstableResultsExplainNeitherTheReferenceNorLayoutsNorWrites) {
  add("run.deterministic", kPlain, other_values(fault::kUnstable));
  add("value.reference", kPlain, other_values(fault::kValues));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("memory.bounds", "float32/3x7/contiguous", fault_of(fault::kWritesOutside));
  add("export.graph", kPlain, raised());
  EXPECT_THAT(ids(),
              UnorderedElementsAre("unstable", "values", "layout/x", "writes outside", "export.graph"));
}

TEST_F(DefectsTest, WhatIsKeptExplainsThreadsThatShareIt) {
  add("memory.lifetime", kPlain, other_values(fault::kKept));
  add("run.threads", kPlain, other_values());
  add("aoti.python", kPlain, other_values());
  add("aoti.threads", kPlain, raised());
  EXPECT_THAT(ids(), ElementsAre("kept"));
  add("run.modes", kPlain, other_values());
  EXPECT_THAT(ids(), UnorderedElementsAre("kept", "run.modes"));
}

TEST_F(DefectsTest, ARefusedDtypeExplainsThatItsSamplesCannotBeCalled) {
  add("value.dtype", "bfloat16/4x6/contiguous", raised());
  add("effect.alias", "bfloat16/4x6/contiguous", Judgement::invalid("the operator refuses this sample"));
  EXPECT_THAT(ids(), ElementsAre("value.dtype"));
  add("effect.alias", "float16/4x6/contiguous", Judgement::invalid("the operator refuses this sample"));
  EXPECT_EQ(ids().size(), 2u);
}

TEST_F(DefectsTest, AFakeKernelExplainsWhatTracesIt) {
  add("fake.metadata", kPlain, fault_of(fault::kFake, "", "metadata"));
  add("fake.symbolic", kPlain, raised());
  add("export.graph", kPlain, raised());
  add("opcheck", kPlain, fault_of("", "test_faketensor"));
  EXPECT_THAT(ids(), ElementsAre("fake kernel"));
}

TEST_F(DefectsTest, AFakeKernelExplainsNeitherOtherValuesNorOtherCalls) {
  add("fake.metadata", "float32/4x6/x=transposed", fault_of(fault::kFake));
  add("export.graph", kPlain, raised());
  add("compile.equal", "float32/4x6/x=transposed", other_values());
  add("opcheck", kPlain, fault_of("", "test_schema"));
  EXPECT_THAT(ids(),
              UnorderedElementsAre("fake kernel", "export.graph", "compile.equal", "opcheck/test_schema"));
}

TEST_F(DefectsTest, AnAliasExplainsTheFakeKernelOfItsCall) {
  add("effect.alias", kStepped, fault_of(fault::kAlias, "x"));
  add("fake.metadata", kStepped, fault_of(fault::kFake));
  add("opcheck", kPlain, fault_of("", "test_schema"));
  EXPECT_THAT(ids(), ElementsAre("alias/x"));
  add("fake.metadata", "float32/4x6/x=transposed", fault_of(fault::kFake));
  EXPECT_THAT(ids(), UnorderedElementsAre("alias/x", "fake kernel"));
}

TEST_F(DefectsTest, AResultOfTheWrongShapeIsNotTheFakeKernels) {
  add("value.empty", "float32/4x6/size6=0", fault_of("", "", "metadata"));
  add("fake.metadata", "float32/4x6/size6=0", fault_of(fault::kFake));
  EXPECT_THAT(ids(), ElementsAre("value.empty"));
  add("fake.metadata", kPlain, fault_of(fault::kFake));
  EXPECT_THAT(ids(), UnorderedElementsAre("value.empty", "fake kernel"));
}

TEST_F(DefectsTest, AWrittenArgumentExplainsLayoutsThatCannotBeWritten) {
  add("effect.mutation", kPlain, fault_of(fault::kMutation, "x"));
  add("value.layout", "float32/4x6/x=expanded", fault_of(fault::kLayout, "x"));
  add("error.raises", "float32/4x6/bad:y.rank+1", fault_of(fault::kMutation, "x"));
  EXPECT_THAT(ids(), ElementsAre("mutation/x"));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  EXPECT_THAT(ids(), UnorderedElementsAre("mutation/x", "layout/x"));
}

TEST_F(DefectsTest, AMissingKernelExplainsModesAndAutogradInOpcheck) {
  add("registration.kernels", kPlain, raised());
  add("run.modes", kPlain, raised());
  add("opcheck", kPlain, fault_of("", "test_autograd_registration"));
  EXPECT_THAT(ids(), ElementsAre("registration.kernels"));
  add("run.modes", "float64/4x6/contiguous", other_values());
  EXPECT_THAT(ids(), UnorderedElementsAre("registration.kernels", "run.modes"));
}

TEST_F(DefectsTest, AWrongGradientExplainsOtherGradientsOfTheArgument) {
  add("grad.numeric", kPlain, fault_of(fault::kGradient, "x"));
  add("grad.reference", kPlain, other_values(fault::kGradient, "x"));
  add("grad.second", kPlain, other_values("", "x"));
  add("grad.layout", kPlain, other_values("", "x"));
  EXPECT_THAT(ids(), ElementsAre("gradient/x"));
  add("grad.layout", "float32/3x5/contiguous", other_values("", "y"));
  EXPECT_THAT(ids(), UnorderedElementsAre("gradient/x", "grad.layout/y"));
}

TEST_F(DefectsTest, ArgumentsInOneStorageShareGradientsAndWrites) {
  add("grad.reference", kPlain, other_values(fault::kGradient, "weight"));
  add("grad.reference", "float32/4x6/x+weight=same", other_values(fault::kGradient, "x"));
  add("effect.mutation", kPlain, fault_of(fault::kMutation, "weight"));
  add("effect.mutation", "float32/4x6/x+weight=together", fault_of(fault::kMutation, "x"));
  EXPECT_THAT(ids(), UnorderedElementsAre("gradient/weight", "mutation/weight"));
  add("grad.reference", kStepped, other_values(fault::kGradient, "x"));
  add("effect.mutation", kStepped, fault_of(fault::kMutation, "x"));
  EXPECT_THAT(ids(), UnorderedElementsAre("gradient/weight", "mutation/weight", "gradient/x", "mutation/x"));
}

TEST_F(DefectsTest, AForwardThatWritesItsInputExplainsGradientsAndACompiledCall) {
  add("effect.mutation", kPlain, fault_of(fault::kMutationWithGradients, "x"));
  add("grad.saved", kPlain, other_values("", "weight"));
  add("grad.reference", kStepped, other_values(fault::kGradient, "x"));
  add("compile.equal", kPlain, other_values());
  EXPECT_THAT(ids(), ElementsAre("mutation with gradients/x"));
  add("value.reference", kPlain, other_values(fault::kValues));
  EXPECT_THAT(ids(), UnorderedElementsAre("mutation with gradients/x", "values"));
}

TEST_F(DefectsTest, TensorsOfOneListAreOneArgument) {
  add("effect.alias", kPlain, fault_of(fault::kAlias, "xs[0]"));
  add("effect.alias", kStepped, fault_of(fault::kAlias, "xs[1]"));
  add("effect.alias", kStepped, fault_of(fault::kAlias, "ys[1]"));
  EXPECT_THAT(ids(), UnorderedElementsAre("alias/xs", "alias/ys"));
}

TEST_F(DefectsTest, GradientsInACompiledProgramAreThoseOfTheOperator) {
  add("grad.layout", kPlain, other_values("", "x"));
  add("compile.equal", kPlain, fault_of("", "", "gradients"));
  EXPECT_THAT(ids(), ElementsAre("grad.layout/x"));
  add("compile.equal", "float64/4x6/contiguous", other_values());
  EXPECT_THAT(ids(), UnorderedElementsAre("grad.layout/x", "compile.equal"));
}

TEST_F(DefectsTest, ASchemaThatCannotBeFunctionalizedExplainsOpcheck) {
  add("registration.schema", kPlain, raised());
  add("opcheck", kPlain, fault_of("", "test_aot_dispatch_dynamic"));
  EXPECT_THAT(ids(), ElementsAre("registration.schema"));
  add("opcheck", "float64/4x6/contiguous", fault_of("", "test_faketensor"));
  EXPECT_THAT(ids(), UnorderedElementsAre("registration.schema", "opcheck/test_faketensor"));
}

TEST_F(DefectsTest, ACrashForABadArgumentExplainsThatItIsAccepted) {
  add("error.raises", "float32/4x6/bad:index.value=-1", crash("SIGSEGV", {"op at kernels.cpp:1"}));
  add("error.raises", "float32/4x6/bad:index.value=6", fault_of(fault::kUnchecked, "index out of range"));
  add("error.raises", "float32/4x6/bad:table.size0-1", fault_of(fault::kUnchecked, "index out of range"));
  add("error.raises", "float32/4x6/bad:index.value=7", other_values(fault::kReadsOutside));
  EXPECT_THAT(ids(), ElementsAre("crash/SIGSEGV in op"));
  add("error.raises", "float32/4x6/bad:y.rank+1", fault_of(fault::kUnchecked, "y must be a vector"));
  add("error.raises", "float32/4x6/bad:y.size0+1", other_values(fault::kReadsOutside));
  EXPECT_THAT(ids(), UnorderedElementsAre("crash/SIGSEGV in op", "reads outside"));
}

TEST_F(DefectsTest, OneMessageIsOneDefectWhicheverCheckReadsIt) {
  add("error.message", "float32/4x6/bad:x.rank+1", fault_of(fault::kMessage, "tensors do not fit"));
  add("value.dtype", "uint8/4x6/contiguous", fault_of(fault::kMessage, "tensors do not fit"));
  add("error.message", "float32/4x6/bad:y.rank+1", fault_of(fault::kMessage, "no 2"));
  add("error.message", "float32/4x6/bad:y.rank-1", fault_of(fault::kMessage, "no 17"));
  EXPECT_THAT(ids(), UnorderedElementsAre("message/tensors do not fit", "message/no #"));
}

TEST_F(DefectsTest, TheIdOfABrokenSpecHasNoPath) {
  add("grad.numeric", kPlain,
      Judgement::invalid("/home/me/specs/op.cpp:78: the operator has no slope along `x`"));
  EXPECT_THAT(ids(), ElementsAre("spec/the operator has no slope along `x`"));
}

TEST_F(DefectsTest, OperatorsAndDevicesDoNotExplainEachOther) {
  defects_.add("op/float32/4x6/contiguous/cpu/memory.bounds", other_values(fault::kReadsOutside));
  defects_.add("op/float32/4x6/contiguous/cuda/value.reference", other_values(fault::kValues));
  defects_.add("other/float32/4x6/contiguous/cpu/value.reference", other_values(fault::kValues));
  EXPECT_EQ(defects_.found().size(), 3u);
}

TEST_F(DefectsTest, TheMostSevereComeFirst) {
  add("error.raises", "float32/4x6/bad:x.rank+1", fault_of(fault::kUnchecked));
  add("grad.numeric", kPlain, fault_of(fault::kGradient, "x"));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("value.empty", "float32/4x6/size6=0", crash("SIGSEGV"));
  add("effect.alias", kPlain, fault_of(fault::kAlias, "x"));
  EXPECT_THAT(
      ids(), ElementsAre("crash/SIGSEGV with other sizes", "layout/x", "alias/x", "gradient/x", "unchecked"));
}

TEST_F(DefectsTest, NoCaseIsLost) {
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("memory.bounds", kStepped, other_values(fault::kReadsOutside));
  add("error.raises", "float32/4x6/bad:x.rank+1", fault_of(fault::kUnchecked));
  size_t cases = 0;
  for (const Defect& defect : defects_.found()) cases += defect.count();
  EXPECT_EQ(cases, 3u);
}

TEST_F(DefectsTest, TheOrderInWhichCasesArriveDoesNotMatter) {
  Defects reversed;
  const std::vector<std::pair<std::string, Judgement>> cases{
      {"op/float32/4x6/x=stepped/cpu/value.layout", other_values(fault::kLayout, "x")},
      {"op/float32/4x6/all=stepped/cpu/value.layout", other_values(fault::kLayout, "all")},
      {"op/float64/4x6/x=stepped/cpu/value.layout", other_values(fault::kLayout, "x")},
  };
  for (const auto& [id, judgement] : cases) defects_.add(id, judgement);
  for (auto each = cases.rbegin(); each != cases.rend(); ++each) reversed.add(each->first, each->second);
  ASSERT_EQ(reversed.found().size(), 1u);
  EXPECT_EQ(reversed.found().front().example, defects_.found().front().example);
  EXPECT_EQ(reversed.found().front().cases, defects_.found().front().cases);
}

TEST_F(DefectsTest, SizesThatNobodyComparesAreOneMistake) {
  add("error.raises", "float32/4x6/bad:w.size0=0", crash("SIGSEGV", {"rows_for_each at kernels.cpp:41"}));
  add("error.raises", "float32/4x6/bad:x.size1+1", fault_of(fault::kReadsOutside));
  add("error.raises", "float32/4x6/bad:x.rank+1", fault_of(fault::kUnchecked, "x must have 2 dims"));
  EXPECT_THAT(ids(), ElementsAre("crash/SIGSEGV in rows_for_each"));
}

TEST_F(DefectsTest, ButAValueThatNobodyChecksIsAnother) {
  add("error.raises", "float32/4x6/bad:w.size0=0", crash("SIGSEGV", {"rows_for_each at kernels.cpp:41"}));
  add("error.raises", "float32/4x6/bad:index.value=-1", fault_of(fault::kReadsOutside));
  add("memory.bounds", kPlain, fault_of(fault::kWritesOutside));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, APackageThatRaisesWhereTheFakeKernelIsWrongInSomeLayoutIsOfTheFakeKernel) {
  add("fake.metadata", kStepped, fault_of(fault::kFake));
  add("aoti.cpp", kPlain, raised());
  EXPECT_THAT(ids(), ElementsAre("fake kernel"));
  add("aoti.cpp", kPlain, other_values());
  EXPECT_EQ(ids().size(), 2u);
}

TEST_F(DefectsTest, WhatDrawsRandomNumbersDiffersWhereverTwoCallsAreCompared) {
  add("effect.state", kPlain, fault_of(fault::kRandom));
  add("compile.equal", kPlain, other_values());
  add("value.alignment", kStepped, other_values(fault::kLayout, "x"));
  add("memory.lifetime", kPlain, other_values(fault::kKept));
  add("aoti.cross", kPlain, raised());
  EXPECT_THAT(ids(), ElementsAre("random numbers"));
  add("memory.bounds", kPlain, fault_of(fault::kWritesOutside));
  add("fake.metadata", kPlain, fault_of(fault::kFake));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, ARaceExplainsWhatDependsOnTheOrderOfThreads) {
  add("run.race", kPlain, fault_of(""));
  add("memory.uninitialised", kStepped, fault_of(fault::kUninitialised));
  add("value.reference", kPlain, other_values(fault::kValues));
  EXPECT_THAT(ids(), ElementsAre("run.race"));
  add("memory.bounds", kPlain, fault_of(fault::kWritesOutside));
  add("fake.metadata", kPlain, fault_of(fault::kFake));
  EXPECT_EQ(ids().size(), 3u);
}

TEST_F(DefectsTest, APlanThatIsKeptBySizesIsNoLayoutThatIsIgnored) {
  add("run.sequence", kPlain, other_values(fault::kKept, "x"));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  add("value.layout", "float32/4x6/all=stepped", other_values(fault::kLayout, "all"));
  EXPECT_THAT(ids(), ElementsAre("kept/x"));
  add("value.layout", "float32/4x6/xs=stepped", other_values(fault::kLayout, "xs"));
  EXPECT_THAT(ids(), UnorderedElementsAre("kept/x", "layout/xs"));
}

TEST_F(DefectsTest, APlanThatIsKeptBySizesExplainsWhatItDoesInAnyLayout) {
  add("value.layout", "float32/4x6/x=expanded-all", fault_of(fault::kLayout, "x"));
  add("value.layout", "float32/4x6/x=expanded-last", fault_of(fault::kLayout, "x"));
  add("value.layout", kStepped, other_values(fault::kKept, "x"));
  add("value.index64", kPlain, other_values(fault::kLayout, "x"));
  EXPECT_THAT(ids(), ElementsAre("kept/x"));
}

TEST_F(DefectsTest, TheFirstCallWithNewSizesIsWrongInWhicheverCheckMakesIt) {
  add("run.sequence", kPlain, other_values(fault::kKept, fault::kFirstCall));
  add("value.reference", kPlain, other_values(fault::kValues));
  EXPECT_THAT(ids(), ElementsAre("kept/first call"));
  add("value.layout", kStepped, other_values(fault::kLayout, "x"));
  EXPECT_THAT(ids(), UnorderedElementsAre("kept/first call", "layout/x"));
}

class CallersTest : public ::testing::Test {
 protected:
  CallersTest() { defects_.add_called("outer", {"inner"}); }
  void add(const std::string& op, const std::string& check, const Judgement& judgement) {
    defects_.add(fmt::format("{}/{}/cpu/{}", op, kPlain, check), judgement);
  }

  Defects defects_;
};

TEST_F(CallersTest, WhatACallerShowsAsWellIsTheDefectOfWhatItCalls) {
  add("inner", "memory.bounds", fault_of(fault::kWritesOutside));
  add("inner", "value.reference", crash("SIGFPE", {"divide at a.cpp:1"}));
  add("outer", "memory.bounds", fault_of(fault::kWritesOutside));
  add("outer", "value.reference", crash("SIGFPE", {"divide at a.cpp:2", "outer at b.cpp:1"}));
  const std::vector<Defect> found = defects_.found();
  ASSERT_EQ(found.size(), 2u);
  for (const Defect& defect : found) {
    EXPECT_EQ(defect.op, "inner");
    EXPECT_EQ(defect.count(), 2u);
    EXPECT_EQ(defect.callers, (std::map<std::string, size_t>{{"outer", 1}}));
  }
}

TEST_F(CallersTest, ButNotAFaultOfItsOwn) {
  add("inner", "memory.bounds", fault_of(fault::kWritesOutside));
  add("outer", "value.reference", crash("SIGFPE", {"outer at b.cpp:1"}));
  add("outer", "value.layout", fault_of(fault::kLayout, "x"));
  EXPECT_EQ(defects_.found().size(), 3u);
}

TEST_F(CallersTest, NorThatOfAnOperatorThatItDoesNotCall) {
  add("other", "memory.bounds", fault_of(fault::kWritesOutside));
  add("outer", "memory.bounds", fault_of(fault::kWritesOutside));
  EXPECT_EQ(defects_.found().size(), 2u);
}

TEST_F(CallersTest, ACrashAtOneLineOfAFunctionIsOneDefectThoughNeitherCallsTheOther) {
  add("other", "value.reference", crash("SIGFPE", {"rows<float> at rows.h:7", "other at a.cpp:3"}));
  add("outer", "value.reference", crash("SIGFPE", {"rows<double> at rows.h:7", "outer at b.cpp:9"}));
  const std::vector<Defect> found = defects_.found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().count(), 2u);
  EXPECT_EQ(found.front().sharing, (std::map<std::string, size_t>{{"outer", 1}}));
}

Judgement misread(const std::string& argument, const std::string& frame) {
  Judgement judgement = fault_of(fault::kLayout, argument);
  judgement.stack = {frame};
  return judgement;
}

TEST_F(CallersTest, AnArgumentMisreadAtOneLineIsOneDefect) {
  add("other", "value.layout", misread("w", "weigh at rows.h:7"));
  add("outer", "memory.bounds", fault_of(fault::kLayout, "w"));
  add("outer", "value.layout", misread("w", "weigh at rows.h:7"));
  const std::vector<Defect> found = defects_.found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().sharing, (std::map<std::string, size_t>{{"outer", 2}}));
}

TEST_F(CallersTest, AnotherArgumentOrLineOrNoLineIsAnother) {
  add("inner2", "value.layout", misread("w", "weigh at rows.h:8"));
  add("other", "value.layout", misread("w", "weigh at rows.h:7"));
  add("outer", "value.layout", misread("x", "weigh at rows.h:7"));
  add("plain", "value.layout", misread("w", "weigh in librows.so"));
  add("plain2", "value.layout", misread("w", "weigh in librows.so"));
  EXPECT_EQ(defects_.found().size(), 5u);
}

TEST_F(CallersTest, CrashesAtOtherLinesOrInOtherWaysOrWithoutALineAreSeveral) {
  add("inner2", "value.reference", crash("SIGFPE", {"rows at rows.h:8", "inner2 at a.cpp:3"}));
  add("other", "value.reference", crash("SIGFPE", {"rows at rows.h:7", "other at a.cpp:3"}));
  add("outer2", "value.reference", crash("SIGSEGV", {"rows at rows.h:7", "outer2 at b.cpp:9"}));
  add("plain", "value.reference", crash("SIGFPE", {"rows in librows.so"}));
  add("plain2", "value.reference", crash("SIGFPE", {"rows in librows.so"}));
  EXPECT_EQ(defects_.found().size(), 5u);
}

TEST_F(CallersTest, ThroughOthersItIsTheInnermosts) {
  defects_.add_called("outermost", {"outer", "inner"});
  for (const char* op : {"inner", "outer", "outermost"})
    add(op, "memory.bounds", fault_of(fault::kWritesOutside));
  const std::vector<Defect> found = defects_.found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().op, "inner");
  EXPECT_EQ(found.front().callers.size(), 2u);
}

TEST_F(CallersTest, TwoThatCallEachOtherKeepTheirOwn) {
  defects_.add_called("inner", {"outer"});
  add("inner", "memory.bounds", fault_of(fault::kWritesOutside));
  add("outer", "memory.bounds", fault_of(fault::kWritesOutside));
  EXPECT_EQ(defects_.found().size(), 2u);
}

}  // namespace
}  // namespace opgate
