// results.jsonl: nothing that was written is lost, and other files are not taken for results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <csignal>

#include "base/text.h"
#include "judging/calls/call_facts.h"
#include "judging/verdict.h"
#include "run/journal.h"
#include "spec/subject_facts.h"
#include "support.h"

namespace opgate::journal_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryFolder;
using testing::text_of;

SubjectFacts some_facts() {
  SubjectFacts facts;
  facts.schema = "my::op(Tensor x) -> Tensor";
  facts.kernels = {"CPU", "Meta"};
  facts.python_kernels = {"Autograd"};
  facts.promises = {"deterministic"};
  facts.accuracy = AccuracyFacts{4, ""};
  facts.where = "spec.cpp:7";
  return facts;
}

const RunHeader kHeader{"0.1.0",
                        "e1",
                        "2.15.0",
                        "abc123",
                        3,
                        "2026-01-02T03:04:05Z",
                        "f00",
                        {2, 3},
                        {{"o*"}, {}, {}, {}},
                        "AVX2",
                        {{"op", some_facts()}}};

const Judgement kFailure = Judgement::fail({"the same result",
                                            "2 of 6 elements differ",
                                            "its strides are ignored",
                                            {},
                                            {"got  1  >2<", "want 1  >3<"}});

void write_three(const std::filesystem::path& file) {
  Journal journal(file, kHeader);
  journal.add("op/float32/2x3/contiguous/cpu/value.reference", Judgement::pass(0.25));
  journal.add("op/float32/2x3/x=stepped/cpu/value.layout", kFailure);
  journal.add("op/float32/2x3/contiguous/cuda/value.reference", Judgement::owed("no NVIDIA driver"));
  journal.finish({{"op/float32/2x3/contiguous/cpu/value.reference", 0.25}}, {{"op/cpu", {1.5, 2}}});
}

struct Entry {
  std::string case_id;
  Judgement judgement;
};

std::vector<Entry> entries_of(const std::filesystem::path& file) {
  std::vector<Entry> entries;
  read_journal(file, {.verdict = [&](const std::string& case_id, const Judgement& judgement) {
                 entries.push_back({case_id, judgement});
               }});
  return entries;
}

std::string refusal(const std::filesystem::path& file) {
  return message_of<SetupError>([&] { read_journal(file); });
}

TEST(Journal, KeepsWhatCallsReturned) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "results.jsonl", kHeader);
    journal.add("op/float32/2x3/contiguous/cpu/value.reference", Judgement::pass());
    journal.add("op/float32/2x3/contiguous/cpu", CallFacts{{"float32 [2, 3] strides (3, 1)"}, "0123"});
  }
  size_t seen = 0;
  const ReadJournal read = read_journal(
      folder / "results.jsonl", {.facts = [&](const std::string& call_id, const CallFacts& facts) {
        EXPECT_EQ(call_id, "op/float32/2x3/contiguous/cpu");
        EXPECT_EQ(facts.outputs, (std::vector<std::string>{"float32 [2, 3] strides (3, 1)"}));
        EXPECT_EQ(facts.bits, "0123");
        ++seen;
      }});
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(read.entries, 1u) << "facts are no verdict";
}

TEST(Journal, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  const ReadJournal read = read_journal(folder / "results.jsonl");
  EXPECT_EQ(read.header.opgate, "0.1.0");
  EXPECT_EQ(read.header.engine, "e1");
  EXPECT_EQ(read.header.torch, "2.15.0");
  EXPECT_EQ(read.header.plan, "abc123");
  EXPECT_EQ(read.header.cases, 3u);
  EXPECT_EQ(read.header.started, kHeader.started);
  EXPECT_EQ(read.header.libraries, "f00");
  EXPECT_EQ(read.header.shard, (Shard{2, 3}));
  EXPECT_EQ(read.header.filter, kHeader.filter);
  EXPECT_EQ(read.header.capability, "AVX2");
  EXPECT_EQ(read.header.accuracy(), (std::map<std::string, double>{{"op", 4}}));
  const SubjectFacts& facts = read.header.subjects.at("op");
  EXPECT_EQ(facts, some_facts());
  EXPECT_EQ(read.header.difference(kHeader), "");
  EXPECT_TRUE(read.finished);
  EXPECT_EQ(read.entries, 3u);
  EXPECT_EQ(read.whole_bytes, std::filesystem::file_size(folder / "results.jsonl"));
  const std::vector<Entry> entries = entries_of(folder / "results.jsonl");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].case_id, "op/float32/2x3/contiguous/cpu/value.reference");
  EXPECT_EQ(entries[0].judgement.worst_ulps, 0.25);
  EXPECT_EQ(entries[1].judgement.verdict, Verdict::fail);
  EXPECT_EQ(entries[1].judgement.finding, kFailure.finding);
  EXPECT_EQ(entries[2].judgement.verdict, Verdict::owed);
  EXPECT_EQ(entries[2].judgement.reason, "no NVIDIA driver");
}

TEST(Journal, WritesAPassInJsonWhateverIsInItsId) {
  const TemporaryFolder folder;
  const std::vector<std::string> ids{"plain/x", "quote\"d", "back\\slash", "new\nline",
                                     "tab\t",   "\x01",     "\u00e9"};
  const std::vector<double> errors{0, 0.1, 1, 2.75, 1e-300, 1e300, 1.0 / 3};
  {
    Journal journal(folder / "results.jsonl", kHeader);
    for (size_t i = 0; i < ids.size(); ++i) journal.add(ids[i], Judgement::pass(errors[i]));
    journal.finish();
  }
  const std::vector<Entry> entries = entries_of(folder / "results.jsonl");
  ASSERT_EQ(entries.size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(entries[i].case_id, ids[i]);
    EXPECT_EQ(entries[i].judgement.verdict, Verdict::pass);
    EXPECT_EQ(entries[i].judgement.worst_ulps, errors[i]);
  }
}

TEST(Journal, EndsWithTheWorstErrorsAndWhatTheCallsTook) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  const std::string text = text_of(folder / "results.jsonl");
  EXPECT_THAT(
      text.substr(text.rfind("\n{")),
      AllOf(HasSubstr("finished"),
            HasSubstr(R"("worst":[{"case":"op/float32/2x3/contiguous/cpu/value.reference","ulps":0.25}])")));
  for (const Costs& costs :
       {read_costs(folder / "results.jsonl"), read_journal(folder / "results.jsonl").costs}) {
    EXPECT_EQ(costs.at("op/cpu").seconds, 1.5);
    EXPECT_EQ(costs.at("op/cpu").calls, 2u);
  }
}

TEST(Journal, ThatIsUnfinishedDoesNotSayWhatCallsCost) {
  const TemporaryFolder folder;
  { Journal journal(folder / "results.jsonl", kHeader); }
  EXPECT_THAT(message_of<SetupError>([&] { read_costs(folder / "results.jsonl"); }),
              HasSubstr("is unfinished"));
}

TEST(RunHeader, SaysWhatDiffers) {
  const auto differs = [](std::string RunHeader::*part) {
    RunHeader other = kHeader;
    other.*part = "other";
    return kHeader.difference(other);
  };
  EXPECT_EQ(differs(&RunHeader::torch), "torch (2.15.0 and other)");
  EXPECT_EQ(differs(&RunHeader::plan), "plan (abc123 and other)");
  EXPECT_EQ(differs(&RunHeader::opgate), "version of OpGate (0.1.0 and other)");
  EXPECT_EQ(differs(&RunHeader::engine), "build of OpGate (e1 and other)");
  EXPECT_EQ(differs(&RunHeader::libraries), "build of the libraries (f00 and other)");
  EXPECT_EQ(differs(&RunHeader::capability), "vector instructions (AVX2 and other)");
  EXPECT_EQ(differs(&RunHeader::costs), "costs that the shards are cut by ( and other)");
  EXPECT_EQ(differs(&RunHeader::started), "");
}

TEST(Journal, IsUnfinishedUntilTheLastLine) {
  const TemporaryFolder folder;
  Journal(folder / "results.jsonl", kHeader).flush();
  EXPECT_FALSE(read_journal(folder / "results.jsonl").finished);
  EXPECT_EQ(read_journal(folder / "results.jsonl").entries, 0u);
}

// Cells and defects follow from the verdicts: they are no entries, and a run that is resumed writes them
// anew.
TEST(Journal, HasLinesBehindItsVerdicts) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "results.jsonl", kHeader);
    journal.add("op/float32/2x3/x=stepped/cpu/value.layout", kFailure);
    journal.finish({}, {},
                   {{{"row", "op/cpu/value.layout"}, {"cell", "FAIL 1"}}, {{"defect", "op/cpu/layout/x"}}});
  }
  std::vector<nlohmann::json> defects;
  const ReadJournal read = read_journal(
      folder / "results.jsonl", {.defect = [&](const nlohmann::json& defect) { defects.push_back(defect); }});
  EXPECT_EQ(read.entries, 1u);
  EXPECT_TRUE(read.finished);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].at("defect"), "op/cpu/layout/x");
  EXPECT_NE(text_of(folder / "results.jsonl").find(R"({"cell":"FAIL 1","row":"op/cpu/value.layout"})"),
            std::string::npos);
}

TEST(Journal, MakesTheFolderItIsWrittenTo) {
  const TemporaryFolder folder;
  write_three(folder / "a/b/results.jsonl");
  EXPECT_EQ(read_journal(folder / "a/b/results.jsonl").entries, 3u);
}

TEST(Journal, TakesBytesThatAreNoText) {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "results.jsonl", kHeader);
    journal.add("case", Judgement::invalid("raised: \xFF\xFE"));
    journal.finish();
  }
  EXPECT_THAT(entries_of(folder / "results.jsonl").at(0).judgement.reason, HasSubstr("raised: "));
}

TEST(ReadJournal, LeavesOutALineThatWasCutOffWhereverItWasCut) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  const std::string whole = text_of(folder / "results.jsonl");
  const size_t header = whole.find('\n') + 1;
  for (size_t length = header; length < whole.size(); length += 7) {
    const std::string kept = whole.substr(0, length);
    const ReadJournal read = read_journal(folder.write("cut.jsonl", kept));
    EXPECT_EQ(read.whole_bytes, kept.rfind('\n') + 1);
    EXPECT_EQ(static_cast<long>(read.entries), std::ranges::count(kept, '\n') - 1);
    EXPECT_FALSE(read.finished);
  }
}

TEST(IsFinished, SaysWhatReadingTheWholeFileSays) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  const std::string whole = text_of(folder / "results.jsonl");
  EXPECT_TRUE(is_finished(folder / "results.jsonl"));
  for (size_t length = whole.find('\n') + 1; length < whole.size(); length += 7)
    EXPECT_FALSE(is_finished(folder.write("cut.jsonl", whole.substr(0, length)))) << length;
  EXPECT_THAT(message_of<SetupError>([&] { is_finished(folder.write("a.jsonl", whole + "garbage\n")); }),
              HasSubstr("a.jsonl:last line: not a line of OpGate's results"));
  EXPECT_THAT(message_of<SetupError>([&] { is_finished(folder.write("b.jsonl", "")); }),
              HasSubstr("no first line"));
}

TEST(IsFinished, FindsALastLineOfAnyLength) {
  const TemporaryFolder folder;
  Journal journal(folder / "results.jsonl", kHeader);
  journal.add(std::string(200000, 'x'), Judgement::pass());
  journal.flush();
  EXPECT_FALSE(is_finished(folder / "results.jsonl"));
  journal.finish({{std::string(200000, 'y'), 0.5}});
  EXPECT_TRUE(is_finished(folder / "results.jsonl"));
}

TEST(ReadJournal, NamesTheLineThatIsNoneOfItsOwn) {
  const TemporaryFolder folder;
  write_three(folder / "whole.jsonl");
  const std::string whole = text_of(folder / "whole.jsonl");
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  EXPECT_THAT(refusal(folder.write("a.jsonl", header + "garbage\n")),
              HasSubstr("a.jsonl:2: not a line of OpGate's results"));
  EXPECT_THAT(refusal(folder.write("b.jsonl", "\n" + header)), HasSubstr("b.jsonl:1: not a line"));
  EXPECT_THAT(refusal(folder.write("c.jsonl", "{}\n")), HasSubstr("c.jsonl:1: not a line"));
  EXPECT_THAT(refusal(folder.write("d.jsonl", header + R"({"case":"x","verdict":"splendid"})"
                                                       "\n")),
              AllOf(HasSubstr("d.jsonl:2:"), HasSubstr("'splendid' is no verdict")));
  EXPECT_THAT(refusal(folder.write("e.jsonl", header + R"({"verdict":"pass"})"
                                                       "\n")),
              HasSubstr("e.jsonl:2:"));
  EXPECT_THAT(refusal(folder.write("f.jsonl", header + "[1]\n")), HasSubstr("f.jsonl:2:"));
}

TEST(ReadJournal, LetsWhatTakesItsVerdictsRefuseThem) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  const auto refuse = [](const std::string&, const Judgement&) { throw SetupError("not this one"); };
  EXPECT_EQ(message_of<SetupError>([&] { read_journal(folder / "results.jsonl", {.verdict = refuse}); }),
            "not this one");
}

TEST(ReadJournal, RefusesAFileThatHasNoFirstLineOrIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.write("empty.jsonl", "")), HasSubstr("is no results file of OpGate"));
  EXPECT_THAT(refusal(folder.write("cut.jsonl", R"({"opgate":"1")")),
              HasSubstr("is no results file of OpGate"));
  EXPECT_THAT(refusal(folder / "none.jsonl"), HasSubstr("No such file or directory"));
}

TEST(Journal, RefusesASecondWriterAndKeepsWhatTheFirstWrote) {
  const TemporaryFolder folder;
  Journal first(folder / "results.jsonl", kHeader);
  first.add("case", Judgement::pass());
  first.flush();
  const std::string before = text_of(folder / "results.jsonl");
  EXPECT_THAT(message_of<SetupError>([&] { Journal(folder / "results.jsonl", kHeader); }),
              HasSubstr("another run is writing"));
  EXPECT_THAT(message_of<SetupError>([&] { Journal(folder / "results.jsonl", ReadJournal{}); }),
              HasSubstr("another run is writing"));
  EXPECT_EQ(text_of(folder / "results.jsonl"), before);
}

TEST(Journal, CanBeWrittenOnceTheFirstWriterIsGone) {
  const TemporaryFolder folder;
  write_three(folder / "results.jsonl");
  write_three(folder / "results.jsonl");
  EXPECT_EQ(read_journal(folder / "results.jsonl").entries, 3u);  // started again, not appended to
}

TEST(Journal, GoesOnBehindTheLastWholeLine) {
  const TemporaryFolder folder;
  const auto file = folder / "results.jsonl";
  {
    Journal journal(file, kHeader);
    journal.add("first", Judgement::pass());
    journal.flush();
  }
  folder.write("results.jsonl", text_of(file) + R"({"case":"cut o)");
  {
    Journal journal(file, read_journal(file));
    journal.add("second", kFailure);
    journal.finish();
  }
  const std::vector<Entry> entries = entries_of(file);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].case_id, "first");
  EXPECT_EQ(entries[1].case_id, "second");
  EXPECT_TRUE(read_journal(file).finished);
}

TEST(Journal, SaysWhereItCannotWrite) {
  const TemporaryFolder folder;
  const auto file = folder.write("file", "not a folder");
  EXPECT_THAT(message_of<SetupError>([&] { Journal(file / "results.jsonl", kHeader); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("Not a directory"), HasSubstr("--output")));
  EXPECT_THAT(message_of<SetupError>([&] { Journal("/dev/full", kHeader); }),
              HasSubstr("cannot write /dev/full"));
}

// A limit on file sizes stands in for a full disk: writes come back short, then fail.
TEST(Journal, KeepsWholeWhatWasWrittenBeforeTheDiskWasFull) {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  std::string message;
  {
    Journal journal(folder / "results.jsonl", kHeader);
    const rlimit small{1500, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    message = message_of<SetupError>([&] {
      for (int i = 0; i < 100; ++i) {
        journal.add("case", Judgement::pass());
        journal.flush();
      }
    });
    setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("cannot write"));
  const size_t kept = read_journal(folder / "results.jsonl").entries;
  EXPECT_GT(kept, 10u);
  EXPECT_LT(kept, 100u);
}

TEST(Timestamp, IsUtcInIso8601) {
  EXPECT_THAT(timestamp(), ::testing::MatchesRegex("20[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+Z"));
}

}  // namespace
}  // namespace opgate::journal_test
