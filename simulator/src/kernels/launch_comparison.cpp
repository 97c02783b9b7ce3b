#include "kernels/launch_comparison.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "environment/setting.h"
#include "kernels/compared_memory.h"

namespace opgate::simulator {
namespace launch_comparison {

// Several processes may append to the file at once, each line in one piece.
void add_line(const std::string& line) {
  const int file = open(value_of(Setting::compare).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string text = line + "\n";
  const bool is_written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  if (is_written) return;
  std::fprintf(stderr, "simulator: %s cannot be written\n", assignment(Setting::compare).c_str());
  std::_Exit(EXIT_FAILURE);
}

std::string text_of(const Outcome& outcome) {
  std::string text = std::to_string(outcome.instructions) + " instructions";
  if (outcome.fault != Fault::none)
    text += ", then in block " + in_words(outcome.block_index) + ", thread " +
            in_words(outcome.thread_index) + " at " + outcome.location + ": " + outcome.message;
  return text;
}

std::string difference_of(const Outcome& first, const Outcome& second) {
  const std::string texts[] = {text_of(first), text_of(second)};
  if (first.fault == second.fault && texts[0] == texts[1]) return "";
  return "the first ends after " + texts[0] + "; the second after " + texts[1];
}

[[noreturn]] void end_process(const Launch& launch, bool is_interpreted_first, const std::string& what) {
  const std::string text =
      "launch " + std::to_string(launch.number) + " of " + launch.kernel + " differs, " +
      (is_interpreted_first ? "interpreted first and compiled then" : "compiled first and interpreted then") +
      ": " + what;
  add_line("differs\t" + launch.kernel + "\t" + what);
  std::fflush(stdout);
  std::fprintf(stderr, "simulator: %s\n", text.c_str());
  std::_Exit(kExecutionsDiffer);
}

}  // namespace launch_comparison

bool launches_are_compared() { return !value_of(Setting::compare).empty(); }

void note_left_out(const Launch& launch, const std::string& why) {
  launch_comparison::add_line("left out\t" + launch.kernel + "\t" + why);
}

Outcome execute_twice(const Launch& launch, DeviceMemory& memory, const ExecuteOnce& execute) {
  using namespace launch_comparison;
  ComparedMemory compared(memory, launch.host_may_write);
  std::string printed[2];
  Launch copy = launch;
  copy.printed = &printed[0];
  std::optional<Outcome> first;
  try {
    first = execute(copy, compared, /*is_first=*/true);
  } catch (const NotComparable& reason) {
    note_left_out(launch, reason.why);
  }
  compared.begin_second();
  if (!first) return execute(launch, memory, /*is_first=*/false);
  copy.printed = &printed[1];
  Outcome second = execute(copy, compared, /*is_first=*/false);
  std::fwrite(printed[1].data(), 1, printed[1].size(), stdout);
  if (!compared.why_not_comparable().empty()) {
    note_left_out(launch, compared.why_not_comparable());
  } else if (first->compiled == second.compiled) {
    note_left_out(launch, "it cannot be compiled");
  } else {
    std::string what = compared.difference();
    if (what.empty()) what = difference_of(*first, second);
    if (what.empty() && printed[0] != printed[1]) what = "the texts that it prints differ";
    if (!what.empty()) end_process(launch, second.compiled, what);
    add_line("compared\t" + launch.kernel);
  }
  return second;
}

}  // namespace opgate::simulator
