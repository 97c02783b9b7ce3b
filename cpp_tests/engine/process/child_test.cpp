// A worker process seen from its parent: its lines, how it ends, and that nothing is left running.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <fstream>
#include <numeric>
#include <thread>

#include "process/child_process.h"
#include "process/line_reader.h"
#include "support.h"

namespace opgate::child_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryFolder;
using testing::text_of;

constexpr std::chrono::seconds kLong{600};  // a limit that ends a hanging test; no test waits that long

class ChildTest : public ::testing::Test {
 protected:
  Command shell(const std::string& script) const { return {{"/bin/sh", "-c", script}, {}}; }
  std::filesystem::path log() const { return folder_ / "log"; }

  static std::vector<std::string> all_lines(Child& child) {
    std::vector<std::string> lines;
    while (child.receive(lines)) {
    }
    return lines;
  }

  std::string ending_of(const std::string& script) const {
    return ending(Child(shell(script), log()).end(kLong));
  }

  TemporaryFolder folder_;

 private:
  const testing::SigpipeIgnored sigpipe_ignored_;
};

TEST_F(ChildTest, AnswersInLinesOnDescriptorThree) {
  Child child(shell("echo one >&3; echo 'two words' >&3; echo >&3"), log());
  EXPECT_THAT(all_lines(child), ElementsAre("one", "two words", ""));
}

TEST_F(ChildTest, GivesALineOnlyOnceItIsWhole) {
  Child child(shell("printf 'half a ' >&3; read go; printf 'line\\nleft over' >&3"), log());
  std::vector<std::string> lines;
  ASSERT_TRUE(child.receive(lines));
  EXPECT_THAT(lines, ElementsAre());
  ASSERT_TRUE(child.send("go"));
  EXPECT_THAT(all_lines(child), ElementsAre("half a line"));
}

TEST_F(ChildTest, PassesLinesOfAnyLength) {
  const std::string text(300000, 'x');
  Child child(shell("head -c 300000 /dev/zero | tr '\\0' x >&3; echo >&3; echo end >&3"), log());
  EXPECT_THAT(all_lines(child), ElementsAre(text, "end"));
}

TEST_F(ChildTest, ReadsLinesOnItsStandardInput) {
  Child child(shell("while read line; do echo \"got $line\" >&3; done"), log());
  std::vector<std::string> lines;
  for (const char* line : {"one", "two"}) {
    ASSERT_TRUE(child.send(line));
    while (lines.empty() || lines.back() != std::string("got ") + line) ASSERT_TRUE(child.receive(lines));
  }
  EXPECT_THAT(lines, ElementsAre("got one", "got two"));
}

// It sends more than a pipe holds to a process that reads nothing until a file tells it to. A send that
// waited would never return.
TEST_F(ChildTest, IsSentMoreThanItReadsWithoutWaitingForIt) {
  const std::filesystem::path told = folder_ / "told";
  const std::string wait = fmt::format("until [ -e '{}' ]; do sleep 0.01; done; ", told.string());
  Child child(shell(wait + "echo ready >&3; read line; echo ${#line} >&3; wc -c >&3"), log());
  const std::string text(1 << 20, 'x');
  ASSERT_TRUE(child.send("go"));
  ASSERT_TRUE(child.send(text));
  EXPECT_TRUE(child.has_unsent());
  std::ofstream(told).close();
  while (child.has_unsent()) {
    pollfd room{child.commands(), POLLOUT, 0};
    ASSERT_EQ(poll(&room, 1, 600000), 1);
    ASSERT_TRUE(child.flush());
  }
  child.close_commands();
  EXPECT_THAT(all_lines(child), ElementsAre("ready", "2", std::to_string(text.size() + 1)));
}

TEST_F(ChildTest, SaysByWhichSignalItEnded) {
  EXPECT_EQ(ending_of("kill -SEGV $$"), "SIGSEGV (Segmentation fault)");
  EXPECT_EQ(ending_of("kill -ABRT $$"), "SIGABRT (Aborted)");
  EXPECT_EQ(ending_of("kill -FPE $$"), "SIGFPE (Floating point exception)");
}

TEST_F(ChildTest, SaysItsExitStatus) {
  EXPECT_EQ(ending_of("exit 0"), "exit status 0");
  EXPECT_EQ(ending_of("exit 7"), "exit status 7");
}

TEST_F(ChildTest, IsKilledWhenItDoesNotLeave) {
  Child child(shell("sleep 600"), log());
  EXPECT_EQ(ending(child.end()), "SIGKILL (Killed)");
  EXPECT_EQ(child.end(), 0);  // it has ended already
}

// Every process of the group holds descriptor 3, so that the pipe closes when the last one has ended.
TEST_F(ChildTest, TakesAllThatItStartedWithItWhenItIsEnded) {
  Child child(shell("sleep 600 & echo ready >&3; wait"), log());
  std::vector<std::string> lines;
  while (lines.empty()) ASSERT_TRUE(child.receive(lines));
  child.end();
  pollfd answers{child.answers(), POLLIN, 0};
  ASSERT_EQ(poll(&answers, 1, 30000), 1) << "a process that it started is still running";
  EXPECT_FALSE(child.receive(lines));
}

// What it leaves behind holds a pipe of its own, which hangs up when the last process has ended.
TEST_F(ChildTest, TakesWhatItLeftBehindWithItWhenItIsDismissed) {
  const std::filesystem::path held = folder_ / "held";
  ASSERT_EQ(mkfifo(held.c_str(), 0600), 0);
  const Descriptor reader(open(held.c_str(), O_RDONLY | O_NONBLOCK));
  Child child(shell(fmt::format("(echo ready >&3; exec sleep 600) 5>'{}' & read line", held.string())),
              log());
  std::vector<std::string> lines;
  while (lines.empty()) ASSERT_TRUE(child.receive(lines));
  child.dismiss();
  pollfd left{reader.get(), POLLIN, 0};
  ASSERT_EQ(poll(&left, 1, 30000), 1) << "a process that it started is still running";
  EXPECT_TRUE(left.revents & POLLHUP);
}

TEST_F(ChildTest, KnowsThatNobodyReadsAnyMore) {
  Child child(shell("exec <&-; echo deaf >&3; read never <&3"), log());
  std::vector<std::string> lines;
  while (lines.empty()) ASSERT_TRUE(child.receive(lines));
  EXPECT_FALSE(child.send("hello"));
  child.end();
  EXPECT_FALSE(child.send("hello"));
}

TEST_F(ChildTest, CanStillBeReadAfterItEnded) {
  Child child(shell("echo last words >&3; kill -SEGV $$"), log());
  EXPECT_EQ(ending(child.end(kLong)), "SIGSEGV (Segmentation fault)");
  EXPECT_THAT(all_lines(child), ElementsAre("last words"));
}

TEST_F(ChildTest, PrintsIntoItsLogAndNotIntoItsAnswers) {
  Child child(shell("echo to stdout; echo to stderr >&2; echo answer >&3"), log());
  EXPECT_THAT(all_lines(child), ElementsAre("answer"));
  child.end(kLong);
  EXPECT_EQ(text_of(log()), "to stdout\nto stderr\n");
}

TEST_F(ChildTest, AppendsToTheLogOfTheOneBeforeIt) {
  Child(shell("echo first"), log()).end(kLong);
  Child(shell("echo second"), log()).end(kLong);
  EXPECT_EQ(text_of(log()), "first\nsecond\n");
}

TEST_F(ChildTest, HasTheVariablesThatAreAdded) {
  setenv("OPGATE_TEST_REPLACED", "old", 1);
  Command command = shell("echo \"$OPGATE_TEST_ADDED $OPGATE_TEST_REPLACED ${PATH:+path}\" >&3");
  command.environment = {{"OPGATE_TEST_ADDED", "a b"}, {"OPGATE_TEST_REPLACED", "new"}};
  Child child(command, log());
  EXPECT_THAT(all_lines(child), ElementsAre("a b new path"));
  unsetenv("OPGATE_TEST_REPLACED");
}

TEST_F(ChildTest, SaysWhichProgramIsMissing) {
  EXPECT_THAT(message_of<SetupError>([&] {
                Child({{"opgate-no-such-program", "-x"}, {}}, log());
              }),
              AllOf(HasSubstr("cannot start 'opgate-no-such-program -x'"), HasSubstr("No such file")));
}

TEST_F(ChildTest, SaysThatItsLogCannotBeWritten) {
  EXPECT_THAT(message_of<SetupError>([&] { Child(shell("true"), folder_ / "none/log"); }),
              HasSubstr("cannot start"));
}

TEST_F(ChildTest, LastPrintedIsWhatThisProcessSaidLast) {
  std::ofstream(log()) << "said by another\n";
  Child child(shell("printf 'one\\n\\ntwo\\n\\n\\nthree\\nfour'"), log());
  child.dismiss();
  EXPECT_THAT(child.last_printed(2), ElementsAre("three", "four"));
  EXPECT_THAT(child.last_printed(9), ElementsAre("one", "two", "three", "four"));
}

// A handler that is set without SA_RESTART, as an operator may leave one behind for its timer, ends a waiting
// read().
TEST(LineReader, IsNotEndedBySignals) {
  struct sigaction noop {};
  noop.sa_handler = [](int) {};
  struct sigaction before {};
  sigaction(SIGUSR1, &noop, &before);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::atomic<bool> read_all = false;
  std::vector<std::string> lines;
  std::thread reader([&] {
    LineReader commands(ends[0]);
    while (const auto line = commands.next()) lines.push_back(*line);
    read_all = true;
  });
  for (int i = 0; i < 100; ++i) {
    pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(write(ends[1], "one\ntwo\nhalf", 12), 12);
  close(ends[1]);
  while (!read_all) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  reader.join();
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
}

}  // namespace
}  // namespace opgate::child_test
