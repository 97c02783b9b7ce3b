// The text of a finding, and the cell of a table: both are made once, for the terminal and for the reports.
#include <gtest/gtest.h>
#include <opgate/error.h>

#include "results/cell.h"
#include "results/finding_text.h"

namespace opgate::results_test {
namespace {

constexpr const char* kCase = "scale/float32/2x3/x=stepped/cpu/value.layout";

std::string cell_of(const std::vector<Judgement>& judgements) {
  VerdictCounts counts;
  for (const Judgement& judgement : judgements) counts.add(judgement);
  return cell_text(counts);
}

Judgement judged(Verdict verdict) {
  Judgement judgement;
  judgement.verdict = verdict;
  return judgement;
}

TEST(FindingText, HasThePromiseWhatHappenedAndWhereToGoOn) {
  Judgement failure = Judgement::fail(
      {"the same result", "2 of 6 elements differ", "its strides are ignored", {}, {"got  1", "want 2"}});
  EXPECT_EQ(finding_text(kCase, failure, " --config my.toml"),
            "FAIL value.layout · scale · float32 · 2x3 · x=stepped · cpu\n"
            "  promised   the same result\n"
            "  happened   2 of 6 elements differ\n"
            "             got  1\n"
            "             want 2\n"
            "  likely     its strides are ignored\n"
            "  again      opgate repro 'scale/float32/2x3/x=stepped/cpu/value.layout' --config my.toml\n"
            "  more       opgate explain value.layout --config my.toml\n");
}

TEST(FindingText, OfACrashHasTheCallsOfTheOperator) {
  Judgement crash = judged(Verdict::crash);
  crash.reason = "the native worker ended: SIGSEGV (Segmentation fault)";
  crash.stack = {"scale_rows at scale.cpp:4", "scale at scale.cpp:9"};
  EXPECT_EQ(finding_text(kCase, crash, std::nullopt),
            "CRASH value.layout · scale · float32 · 2x3 · x=stepped · cpu\n"
            "  because    the native worker ended: SIGSEGV (Segmentation fault)\n"
            "  in         scale_rows at scale.cpp:4\n"
            "  called by  scale at scale.cpp:9\n"
            "  more       opgate explain value.layout\n");
}

TEST(FindingText, OfAPassHasNothingToRepeat) {
  EXPECT_EQ(finding_text(kCase, Judgement::pass(0.25), ""),
            "PASS value.layout · scale · float32 · 2x3 · x=stepped · cpu\n  worst      0.25 ulps\n");
  EXPECT_THROW(finding_text("scale/float32", Judgement::pass(), ""), SetupError);
}

TEST(Cell, ShowsTheWorstVerdict) {
  const Judgement pass = Judgement::pass(), owed = Judgement::owed("no GPU"),
                  invalid = Judgement::invalid("?"), fail = judged(Verdict::fail),
                  timeout = judged(Verdict::timeout), crash = judged(Verdict::crash);
  EXPECT_EQ(cell_of({pass, pass}), "ok");
  EXPECT_EQ(cell_of({pass, Judgement::pass_by_evidence("an H200")}), "ok*");
  EXPECT_EQ(cell_of({pass, owed}), "owed");
  EXPECT_EQ(cell_of({owed, invalid, invalid}), "spec? 2");
  EXPECT_EQ(cell_of({invalid, fail, timeout}), "FAIL 2");
  EXPECT_EQ(cell_of({fail, crash, timeout}), "CRASH 1");
}

TEST(Cell, OfAGroupHasTheCasesOfAll) {
  VerdictCounts group, other;
  group.add(Judgement::pass());
  other.add(judged(Verdict::fail));
  group.add(other);
  group.add(other);
  EXPECT_EQ(cell_text(group), "FAIL 2");
  EXPECT_EQ(group.worst(), Verdict::fail);
  EXPECT_EQ(group.of(Verdict::pass), 1u);
}

}  // namespace
}  // namespace opgate::results_test
