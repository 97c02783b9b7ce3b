// opgate record: runs a program and keeps the operator calls that it makes, as samples.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/build.h"
#include "base/errors.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/files/search_path.h"
#include "base/text.h"
#include "cli/commands/subcommand.h"
#include "cli/project/first_config.h"
#include "cli/project/project_options.h"
#include "cli/recording/collect_recordings.h"
#include "cli/recording/loadable.h"
#include "cli/terminal/terminal.h"
#include "device/device.h"
#include "device/simulator.h"
#include "process/libraries/python_package.h"
#include "process/run_program.h"
#include "run/project_setup.h"
#include "spec/schema/function_name.h"

namespace opgate::record {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  fs::path config;
  std::vector<std::string> namespaces;
  std::vector<std::string> functions;
  fs::path into;
  bool anew = false;
  bool simulate = false;
  std::string over;
  std::vector<std::string> modules;
  std::vector<std::string> program;
};

fs::path prefix() { return this_executable().parent_path().parent_path(); }

// The program gets this process's own input, output and process group: it is the user's program, and Ctrl-C
// is meant for it.
int run_program(const RecordOptions& options, Command command, const fs::path& scratch) {
  const fs::path preload = scratch / "libopgate_preload.so";
  fs::create_symlink(prefix() / "lib" / "libopgate_preload.so", preload);
  std::string path = python_path_with_startup();
  if (const auto packages = command.environment.find("PYTHONPATH"); packages != command.environment.end())
    path += ":" + packages->second;
  command.environment["PYTHONPATH"] = path;
  command.environment["OPGATE_RECORD"] = scratch.string();
  command.environment["OPGATE_RECORD_LIBRARY"] = (prefix() / "lib" / "libopgate_record.so").string();
  command.environment["OPGATE_RECORD_TORCH"] = kTorchVersion;
  command.environment["LD_PRELOAD"] = before_present(preload.string(), "LD_PRELOAD");
  if (options.simulate) {
    std::map<std::string, std::string> simulator = simulator_environment();
    command.environment["LD_PRELOAD"] = preload.string() + ":" + simulator.at("LD_PRELOAD");
    command.environment.merge(simulator);
    // A test that makes the device fail must not cost those after it, as with `opgate sim`.
    command.environment["OPGATE_SIM_RECOVER"] = "1";
  }
  if (!options.namespaces.empty())
    command.environment["OPGATE_RECORD_NAMESPACES"] = fmt::format("{}", fmt::join(options.namespaces, ","));
  if (!options.functions.empty())
    command.environment["OPGATE_RECORD_FUNCTIONS"] = fmt::format("{}", fmt::join(options.functions, ","));
  return run_here(command);
}

// The type of the device whose tensors reach kernels at the key.
std::string device_at(const std::string& key) {
  const std::string backend = key.starts_with("Autograd") ? key.substr(std::strlen("Autograd")) : key;
  for (const auto& [name, device] : {std::pair("CPU", "cpu"), std::pair("CUDA", "cuda")})
    if (backend == name) return device;
  throw setup_error(
      "--over {}: not a dispatch key of one device; there are CPU, CUDA, AutogradCPU and AutogradCUDA", key);
}

// What calls the operators whose kernels the project replaces: the samples of torch's own tests.
Command caller_of_samples(const RecordOptions& options, const Config& config) {
  Setup setup = setup_from(config);
  for (const std::string& module : options.modules)
    if (std::ranges::find(setup.modules, module) == setup.modules.end()) setup.modules.push_back(module);
  Programs programs = this_program(config);
  programs.python_path.push_back(fs::current_path());
  const std::string device = device_at(options.over);
  // A module may look for a device when it is imported, and register its kernels only if there is one.
  const bool simulate = device == "cuda" && missing_device(kSimulatedType) && !missing_simulator();
  return python_command(
      programs, "opgate.overrides.calls",
      {{"key", options.over},
       {"device", device},
       {"environment", simulate ? simulator_environment() : decltype(simulator_environment()){}},
       {"libraries", setup.libraries},
       {"modules", setup.modules}});
}

// "2 operators and 1 function"
std::string counted_subjects(const Recording& recording) {
  const auto functions = static_cast<size_t>(
      std::ranges::count_if(recording.operators, [](const auto& named) { return is_function(named.first); }));
  const size_t operators = recording.operators.size() - functions;
  if (functions == 0) return counted(operators, "operator");
  const std::string last = counted(functions, "function");
  return operators == 0 ? last : fmt::format("{} and {}", counted(operators, "operator"), last);
}

void print_table(const Recording& recording, const fs::path& folder) {
  size_t samples = 0;
  uint64_t calls = 0;
  size_t width = 0;
  for (const auto& [name, op] : recording.operators) {
    samples += op.samples;
    calls += op.calls;
    width = std::max(width, name.size());
  }
  fmt::print("\n{}: {} of {}, {} in {}\n", coloured(Colour::bold, "recorded"), counted(calls, "call"),
             counted_subjects(recording), counted(samples, "sample"), folder.string());
  for (const auto& [name, op] : recording.operators) {
    fmt::print("  {:<{}}  {:>5} samples  {:>8} calls  {}\n", name, width, op.samples, op.calls,
               fmt::join(op.dtypes, ", "));
    if (!op.written.empty())
      fmt::print("  {:<{}}  writes `{}`: this is recorded as meant\n", "", width,
                 fmt::join(op.written, "`, `"));
    if (op.rejections > 0)
      fmt::print("  {:<{}}  {:>5} kinds of call that raised, kept as such\n", "", width, op.rejections);
    for (const auto& [reason, count] : op.left_out)
      fmt::print("  {:<{}}  not kept: {} calls {}\n", "", width, count, reason);
  }
}

// Writes a first opgate.toml, or says what an existing one lacks.
void offer_config(const RecordOptions& options, const Recording& recording,
                  const std::optional<Config>& config, const fs::path& folder) {
  if (!config) {
    const fs::path file = fs::current_path() / "opgate.toml";
    Config first;
    first.output = fs::current_path() / ".opgate";
    ImportableModules python = importable_modules(recording, this_program(first));
    python.modules.insert(python.modules.end(), options.modules.begin(), options.modules.end());
    if (!options.modules.empty()) python.python_path.push_back(fs::current_path());
    std::vector<fs::path> kernels;
    for (const KernelFolder& kernel : recording.kernels) kernels.push_back(kernel.folder);
    write_first_config(file, {.libraries = libraries_with_needs(recording),
                              .modules = python.modules,
                              .kernels = kernels,
                              .python_path = python.python_path,
                              .environment = python.environment,
                              .recorded = folder});
    fmt::print("wrote {}\n", file.string());
    for (const auto& [module, why] : python.failed) {
      fmt::print(
          "left out of it: the Python module {}, which a new process cannot import ({}); what it registers, "
          "such as fake kernels, is not checked\n",
          module, why);
    }
  } else if (config->recorded.empty()) {
    fmt::print("add to {}:  recorded = \"{}\"\n", config->file.string(),
               folder.lexically_relative(config->file.parent_path()).string());
  }
}

void say_what_is_unknown(const Recording& recording) {
  if (recording.unknown.empty()) return;
  fmt::print(
      "it is not known what defines {}: name its library in `libraries`, or its Python module in `python`, "
      "of opgate.toml\n",
      fmt::join(recording.unknown, ", "));
}

[[noreturn]] void nothing_recorded(const RecordOptions& options, const Recording& recording) {
  const std::string of = options.namespaces.empty()
                             ? "no operator but torch's own"
                             : fmt::format("no operator of {}", fmt::join(options.namespaces, ", "));
  const bool without_gpu = missing_device(kSimulatedType) && !missing_simulator();
  throw SetupError(
      recording.torch.empty()
          ? fmt::format(
                "nothing was recorded: {} never loaded torch. OpGate records programs that are linked with "
                "libtorch and Python programs that import torch, but not Python with -I, -E or -S",
                options.program.front())
          : fmt::format("nothing was recorded: the program called {} through the dispatcher, and no function "
                        "that is recorded without being named (--function names others){}",
                        of,
                        without_gpu && !options.simulate
                            ? "; there is no GPU here, and `opgate record --sim` simulates one"
                            : ""));
}

int record(const RecordOptions& options) {
  const std::optional<Config> config = config_if_any(options.config);
  const fs::path folder = !options.into.empty() ? fs::absolute(options.into)
                          : config && !config->recorded.empty()
                              ? config->recorded
                              : (config ? config->file.parent_path() : fs::current_path()) / "recorded";
  if (const auto missing = missing_simulator(); options.simulate && missing)
    throw setup_error("--sim: {}", *missing);
  if (options.program.empty() == options.over.empty())
    throw SetupError(options.over.empty() ? "name a program to record: opgate record -- pytest tests/"
                                          : "--over calls the samples of torch's tests and takes no program");
  std::optional<ReplacedAt> replaced;
  if (!options.over.empty()) replaced = {options.over, device_at(options.over)};
  const ScratchFolder scratch("opgate-record");
  const Command command =
      replaced ? caller_of_samples(options, config.value_or(Config{})) : Command{options.program};
  const int status = run_program(options, command, scratch.folder());
  const Recording recording = collect_recordings(scratch.folder(), folder, options.anew, replaced);
  const std::string ended = ending(status);
  if (replaced && recording.operators.empty())
    return WIFEXITED(status) ? kUsageOrSetup : 128 + WTERMSIG(status);
  if (recording.operators.empty()) {
    if (status != 0) fmt::print(stderr, "opgate: the program ended with {}\n", ended);
    nothing_recorded(options, recording);
  }
  print_table(recording, folder);
  offer_config(options, recording, config, folder);
  if (!replaced) say_what_is_unknown(recording);
  if (status != 0) {
    const bool died = WIFSIGNALED(status) && !recording.unknown.empty();
    fmt::print("the program ended with {}; the calls that it made until then are kept{}\n", ended,
               died ? ", but it could not say which libraries and modules its operators come from" : "");
  }
  fmt::print("next: opgate run\n");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run a program and keep each kind of call that it makes of operators and functions outside torch, as "
      "samples that `opgate run` checks without a spec");
  app.footer("Exit status: the program's own; 2 if nothing was recorded.");
  auto options = std::make_shared<RecordOptions>();
  app.add_option("--config FILE", options->config,
                 "configuration file; by default opgate.toml in this folder or the nearest one above it");
  app.add_flag("--sim", options->simulate,
               "give the program the simulated CUDA device instead of GPUs; its kernels run slowly, and "
               "values of tensors on CUDA are recorded, too");
  app.add_option("--namespace NAME", options->namespaces,
                 "only operators of these namespaces, and functions that --function names; by default "
                 "operators of all namespaces but torch's own, and functions");
  app.add_option("--function NAME", options->functions,
                 "also these Python functions, as module:name, with * and ? for any characters; functions of "
                 "extension modules that take tensors, autograd Functions and functions that launch Triton "
                 "kernels are recorded without being named");
  app.add_option(
      "--over KEY", options->over,
      "find the kernels that the project's libraries and modules register for torch's own operators "
      "at this dispatch key, such as CUDA, and record the samples of torch's tests for them instead "
      "of a program");
  app.add_option("--module NAME", options->modules,
                 "with --over: a Python module that registers such kernels when it is imported");
  app.add_option("--into FOLDER", options->into,
                 "folder for the samples; by default `recorded` of opgate.toml, or `recorded` beside it");
  app.add_flag("--anew", options->anew,
               "discard earlier recordings of the recorded operators instead of adding to them");
  app.takes_program(options->program, /*is_required=*/false);
  return [=] { return record(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(record, {"record", &declare});

}  // namespace
}  // namespace opgate::record
