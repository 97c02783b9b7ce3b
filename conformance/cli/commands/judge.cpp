// opgate judge: a verdict on kernels that nobody trusts. The Python half does the judging.
#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands/subcommand.h"
#include "device/simulator.h"
#include "plan/config.h"
#include "process/run_program.h"
#include "run/programs.h"

namespace opgate::judge {
namespace {

struct JudgeOptions {
  std::vector<std::string> candidates;
  std::string reference;
  std::string device = "cpu";
  int time_limit = 120;
  double memory_limit = 16;
  bool json = false;
};

int judge(const JudgeOptions& options) {
  Command command = python_command(this_program(Config{}), "opgate.judge");
  // Threads of OpenMP that wait for work keep a core busy, which the other processes could use.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) command.environment.emplace("OMP_WAIT_POLICY", "passive");
  const bool is_simulated = options.device == "sim";
  if (is_simulated) {
    if (const auto missing = missing_simulator()) throw SetupError(*missing);
    command.environment.merge(simulator_environment());
  }
  command.words.insert(
      command.words.end(),
      {"--reference", options.reference, "--device", is_simulated ? "cuda" : "cpu", "--time-limit",
       std::to_string(options.time_limit), "--memory-limit", fmt::format("{}", options.memory_limit)});
  if (options.json) command.words.emplace_back("--json");
  command.words.emplace_back("--");
  command.words.insert(command.words.end(), options.candidates.begin(), options.candidates.end());
  const int status = run_here(command);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Judge kernels that nobody trusts, such as those that a program has written to pass a check: each is "
      "called in an isolated process that never sees what is right, with secret arguments and in a secret "
      "order. The verdict is correct, wrong, cheating or unclear. Speed is not measured");
  app.footer(
      "Exit status: 0 correct, 1 wrong or cheating, 2 wrong usage or set-up, 3 unclear; of several "
      "candidates, the worst.");
  auto options = std::make_shared<JudgeOptions>();
  app.add_option("CANDIDATE", options->candidates,
                 "FILE.py with a class ModelNew, or FILE.py:NAME for a class or function of another name")
      .required();
  app.add_option("--reference", options->reference,
                 "FILE.py with a class Model, get_inputs() and get_init_inputs(), or FILE.py:NAME for a "
                 "class or function of another name")
      .type_name("FILE")
      .required();
  app.add_option("--device", options->device, "where candidates run: cpu, or sim, the simulated CUDA device")
      .one_of({"cpu", "sim"})
      .shows_default();
  app.add_option("--time-limit", options->time_limit, "seconds after which a call counts as hanging")
      .type_name("SECONDS")
      .between(1, 86400)
      .shows_default();
  app.add_option("--memory-limit", options->memory_limit, "GiB of memory that a candidate may map")
      .type_name("GIB")
      .between(1.0, 1048576.0)
      .shows_default();
  app.add_flag("--json", options->json, "print each verdict as a line of JSON");
  return [=] { return judge(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(judge, {"judge", &declare});

}  // namespace
}  // namespace opgate::judge
