// opgate judge: a verdict on kernels that nobody trusts. The Python half does the judging.
#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "device/simulator.h"
#include "gate/evidence/evidence_signature.h"
#include "plan/config.h"
#include "process/run_program.h"
#include "run/python/programs.h"

namespace opgate::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct JudgeOptions {
  std::vector<std::string> candidates;
  std::string reference;
  std::string device = "cpu";
  int time_limit = 120;
  double memory_limit = 16;
  bool json = false;
  bool no_speed = false;
  bool no_compile = false;
  std::string inputs;
  std::vector<std::string> libraries, specs, modules;
  std::string serve, server;
  fs::path receipt, key, verified, signers;
  std::string backendbench, calls;

  bool is_simulated() const { return device == "sim"; }
  std::string torch_device() const { return is_simulated() ? "cuda" : "cpu"; }
};

// What a module needs in its environment to judge with these options.
Command prepared(Command command, const JudgeOptions& options) {
  // Threads of OpenMP that wait for work keep a core busy, which the other processes could use.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) command.environment.emplace("OMP_WAIT_POLICY", "passive");
  if (options.is_simulated() && options.server.empty()) {
    if (const auto missing = missing_simulator()) throw SetupError(*missing);
    command.environment.merge(simulator_environment());
  }
  return command;
}

int status_of(const Command& command) {
  const int status = run_here(command);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Becomes the server, so that a signal to this process reaches it.
int serve(const JudgeOptions& options) {
  Command command = python_command(this_program({}), "opgate.judge.server");
  command.words.insert(command.words.end(), {options.serve, options.torch_device()});
  become(prepared(std::move(command), options));
}

// "mylib::op" and not "problem.py", "problem.py:slow".
bool is_operator(const std::string& name) {
  return name.find("::") != std::string::npos && name.find(".py") == std::string::npos;
}

// What defines the operator that is the reference: the project's libraries and modules, and those named here.
Config with_operators(const JudgeOptions& options) {
  if (!is_operator(options.reference)) return {};
  const auto nearest = nearest_config();
  return nearest ? read_config(*nearest) : Config{};
}

// The files of libraries: those of the project, and those that an option names.
std::vector<fs::path> files_of(const Config& config, const std::vector<std::string>& of_config,
                               const std::vector<std::string>& named) {
  std::vector<fs::path> files;
  for (const std::string& name : of_config) files.push_back(config.find_library(name));
  for (const std::string& name : named) files.push_back(fs::absolute(name));
  return files;
}

int judge(const JudgeOptions& options) {
  if (options.backendbench.empty() && (options.candidates.empty() || options.reference.empty()))
    throw SetupError(
        "opgate judge needs a CANDIDATE and --reference, or --backendbench; see opgate judge --help");
  if (!options.key.empty() && options.receipt.empty())
    throw SetupError("--sign signs a receipt: name its file with --receipt");
  const Config config = with_operators(options);
  std::vector<std::string> modules = config.modules;
  modules.insert(modules.end(), options.modules.begin(), options.modules.end());
  std::vector<fs::path> python_path;
  for (const fs::path& folder : config.python_path) python_path.push_back(fs::absolute(folder));
  const json request{{"server", options.server},
                     {"candidates", options.candidates},
                     {"reference", options.reference},
                     {"device", options.torch_device()},
                     {"time_limit", options.time_limit},
                     {"memory_limit", options.memory_limit},
                     {"as_json", options.json},
                     {"no_speed", options.no_speed},
                     {"no_compile", options.no_compile},
                     {"inputs", options.inputs},
                     {"libraries", files_of(config, config.libraries, options.libraries)},
                     {"specs", files_of(config, config.specs, options.specs)},
                     {"modules", modules},
                     {"python_path", python_path},
                     {"receipt", options.receipt},
                     {"backendbench", options.backendbench},
                     {"calls", options.calls}};
  if (!options.receipt.empty()) {
    fs::remove(options.receipt);
    fs::remove(signature_of(options.receipt));
  }
  const std::string module = options.server.empty() ? "opgate.judge" : "opgate.judge.client";
  const int status = status_of(prepared(python_command(this_program(config), module, request), options));
  if (!options.key.empty() && fs::exists(options.receipt)) sign({options.receipt}, options.key);
  return status;
}

// Verifies the signature of a receipt, and shows what it says.
int verify(const JudgeOptions& options) {
  fs::path signers = options.signers;
  if (const auto nearest = nearest_config(); signers.empty() && nearest)
    signers = read_config(*nearest).signers;
  if (signers.empty()) {
    throw SetupError(
        "whose signatures count? name a file of allowed signers with --signers, or in opgate.toml as "
        "`signers`");
  }
  if (!fs::exists(options.verified)) throw SetupError("there is no file " + options.verified.string());
  const SignatureCheck check = check_signature(options.verified, signers);
  if (!check.problem.empty()) {
    fmt::print(stderr, "opgate: {}: {}\n", options.verified.string(), check.problem);
    return kPromiseBroken;
  }
  fmt::print("signed     {}\n", check.signer);
  std::fflush(stdout);
  Command command = python_command(this_program({}), "opgate.judge.receipt");
  command.words.push_back(options.verified.string());
  return status_of(prepared(std::move(command), options));
}

int run(const JudgeOptions& options) {
  if (!options.verified.empty()) return verify(options);
  if (!options.serve.empty()) return serve(options);
  return judge(options);
}

void declare_operators(CommandLine& app, JudgeOptions& options) {
  app.add_option("--inputs FILE", options.inputs,
                 "FILE.py with get_inputs(), for a reference that is an operator; without it the samples of "
                 "the operator's spec are the arguments");
  app.add_option("--library FILE", options.libraries,
                 "library that defines the operator, besides those of opgate.toml");
  app.add_option("--spec FILE", options.specs, "library with its spec, besides those of opgate.toml");
  app.add_option("--module MODULE", options.modules,
                 "Python module that defines the operator or its spec, besides those of opgate.toml");
}

void declare_backendbench(CommandLine& app, JudgeOptions& options) {
  auto folder =
      app.add_option("--backendbench FOLDER", options.backendbench,
                     "judge all kernels of a folder as BackendBench has them: the functions "
                     "NAME_kernel_impl of the files NAME/NAME_implementation*.py, each beside the operator "
                     "of torch that it replaces (add__Tensor is aten::add.Tensor), with the samples of "
                     "torch's tests. Nothing is timed");
  for (const char* other : {"CANDIDATE", "--reference", "--inputs", "--library", "--spec", "--module"})
    folder = folder.excludes(app.get_option(other));
  app.add_option("--arguments FILE", options.calls,
                 "for --backendbench: a file with calls of operators, lines `Operator: aten.add.Tensor` and "
                 "`cnt: 1, ((T([8, 512], f16), 2), {})`, which must not be refused")
      .needs(folder);
}

void declare_server(CommandLine& app, JudgeOptions& options) {
  const auto serve = app.add_option("--serve SOCKET", options.serve,
                                    "start once, and judge for each `opgate judge --server SOCKET` until "
                                    "Ctrl-C; the socket is for this user alone");
  app.add_option("--server SOCKET", options.server,
                 "let the server at this socket judge, which starts no Python")
      .excludes(serve);
}

void declare_receipt(CommandLine& app, JudgeOptions& options) {
  app.add_option("--receipt FILE", options.receipt,
                 "write a record in JSON: digests of the files, seeds, digests of arguments and results, "
                 "verdict, speed, versions, date");
  app.add_option("--sign KEY", options.key,
                 "sign the receipt with this SSH key, as `opgate evidence --sign` signs evidence");
  app.add_option("--verify FILE", options.verified,
                 "verify the signature of a receipt, show it, and report which of its files have changed");
  app.add_option("--signers FILE", options.signers,
                 "whose signatures count for --verify: a file of allowed signers (default: `signers` in "
                 "opgate.toml)");
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Judge kernels that nobody trusts, such as those that a program has written to pass a check: each is "
      "called in an isolated process that never sees what is right, with secret arguments and in a secret "
      "order. The verdict is correct, wrong, cheating or unclear. The speed of a correct candidate is "
      "measured beside the reference and torch.compile of it");
  app.footer(
      "Exit status: 0 correct, 1 wrong or cheating, 2 wrong usage or set-up, 3 unclear; of several "
      "candidates, the worst. --verify: 0 valid, 1 not valid or files have changed.");
  auto options = std::make_shared<JudgeOptions>();
  app.add_option("CANDIDATE", options->candidates,
                 "FILE.py with a class ModelNew, FILE.py:NAME for a class or function of another name, or "
                 "FILE.so:NAMESPACE::NAME for an operator of a library");
  app.add_option("--reference FILE", options->reference,
                 "FILE.py with a class Model, get_inputs() and get_init_inputs(), FILE.py:NAME for a "
                 "class or function of another name, or NAMESPACE::NAME for an operator");
  app.add_option("--device", options->device, "where candidates run: cpu, or sim, the simulated CUDA device")
      .one_of({"cpu", "sim"})
      .shows_default();
  app.add_option("--time-limit SECONDS", options->time_limit, "seconds after which a call counts as hanging")
      .between(1, 86400)
      .shows_default();
  app.add_option("--memory-limit GIB", options->memory_limit, "GiB of memory that a candidate may map")
      .between(1.0, 1048576.0)
      .shows_default();
  app.add_flag("--no-speed", options->no_speed, "do not measure how fast a correct candidate is");
  app.add_flag("--no-compile", options->no_compile,
               "do not measure torch.compile of the reference, which takes seconds");
  declare_operators(app, *options);
  declare_backendbench(app, *options);
  declare_server(app, *options);
  declare_receipt(app, *options);
  app.add_flag("--json", options->json, "print each verdict as a line of JSON");
  return [=] { return run(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(judge, {"judge", &declare});

}  // namespace
}  // namespace opgate::judge
