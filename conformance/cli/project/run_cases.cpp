#include "cli/project/run_cases.h"

#include <ATen/Version.h>
#include <c10/util/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/build.h"
#include "base/errors.h"
#include "base/text.h"
#include "cli/project/project.h"
#include "cli/project/run_progress.h"
#include "device/device.h"
#include "gate/evidence/device_evidence_verdicts.h"
#include "judging/calls/call_facts.h"
#include "judging/check.h"
#include "judging/revision.h"
#include "provenance/compiler_inputs.h"
#include "provenance/digests.h"
#include "provenance/source_digests.h"
#include "run/project_setup.h"
#include "spec/spec.h"
#include "spec/subject_facts.h"

namespace opgate {
namespace {

constexpr double kGiB = 1 << 30;

}  // namespace

ExecutionOptions::ExecutionOptions()
    : jobs(std::max(1u, std::thread::hardware_concurrency())),
      seconds(default_limits().native_case.count()),
      python_seconds(default_limits().python_case.count()),
      gib(static_cast<double>(default_limits().memory) / kGiB) {}

void ExecutionOptions::declare(CommandLine& app) {
  app.add_option("-j,--jobs N", jobs, "number of native workers at a time; by default the number of cores")
      .between(1, 4096);
  app.add_option("--time-limit SECONDS", seconds,
                 fmt::format("seconds after which a native call counts as hanging; by default {}", seconds))
      .between(1, 86400);
  app.add_option(
         "--python-time-limit SECONDS", python_seconds,
         fmt::format("seconds after which a call in Python, such as an export, counts as hanging; by default "
                     "{}",
                     python_seconds))
      .between(1, 86400);
  app.add_option("--memory-limit GIB", gib,
                 "GiB of memory that each worker may use, at least 1; by default all of the machine's")
      .between(1.0, 1048576.0);
}

std::vector<std::string> ExecutionOptions::words() const {
  return {"--jobs",
          std::to_string(jobs),
          "--time-limit",
          std::to_string(seconds),
          "--python-time-limit",
          std::to_string(python_seconds),
          "--memory-limit",
          fmt::format("{}", gib)};
}

Limits ExecutionOptions::limits() const {
  Limits limits = default_limits();
  limits.native_case = std::chrono::seconds(seconds);
  limits.python_case = std::chrono::seconds(python_seconds);
  limits.memory = static_cast<uint64_t>(gib * kGiB);
  return limits;
}

void ShardOptions::declare(CommandLine& app) {
  const CommandLineOption part = app.add_option(
      "--shard I/N", shard, "only part I of N of the planned calls, to use N machines; see `opgate merge`");
  app.add_option(
         "--costs FILE", costs,
         "results.jsonl of an earlier run, by whose times --shard makes parts that take equally long; give "
         "every shard the same file")
      .needs(part);
}

std::optional<Costs> ShardOptions::read_costs() const {
  if (costs.empty()) return std::nullopt;
  try {
    return opgate::read_costs(costs);
  } catch (const OtherVersion& error) {  // all shards see the same file, so all of them are cut by position
    return std::nullopt;
  }
}

ShardAssignment ShardOptions::cut(const Calls& calls) const {
  const auto known = read_costs();
  return known ? ShardAssignment(read(), calls, *known) : ShardAssignment(read());
}

RunHeader header_of(const Project& project, const Plan& plan, const Filter& filter, const CaseSet& todo,
                    const ShardOptions& part) {
  RunHeader header{.opgate = kVersion,
                   .engine = engine_digest(),
                   .torch = project.torch,
                   .plan = plan.digest(),
                   .cases = todo.size(),
                   .started = timestamp(),
                   .libraries = libraries_digest(project.config, project.sources),
                   .shard = part.read()};
  header.filter = filter;
  std::vector<std::string> modules;
  for (const auto& [name, file] : project.module_files) {
    modules.push_back(file);
    header.modules.files[name] = std::filesystem::weakly_canonical(file);
  }
  header.modules.listed = project.config.modules;
  header.inputs = project.inputs;
  header.files = digests_of_files(project.config, modules);
  header.folder = project.config.file.parent_path();
  header.coverage = coverage_of(project.operators, project.subjects);
  header.capability = at::get_cpu_capability();
  const std::set<std::string> planned = plan.calls.subjects();
  std::optional<SourceDigests> digests;  // made only if needed, because they read every source file
  std::optional<CompilerInputs> inputs;
  if (!project.config.evidence.empty()) {
    const Setup setup = setup_from(project.config);
    std::vector<std::string> libraries = setup.libraries;
    libraries.insert(libraries.end(), setup.specs.begin(), setup.specs.end());
    digests.emplace(project.config, libraries, project.subjects);
    inputs.emplace(project.config, libraries, project.subjects);
  }
  for (const Spec& spec : project.subjects) {
    if (!planned.contains(spec.id)) continue;
    SubjectFacts& facts = header.subjects[spec.id] = facts_of(spec, project.registered);
    if (!digests) continue;
    FilesRead read = inputs->of(spec);
    facts.sources = digests->of(spec);
    facts.files_read = std::move(read.digests);
    facts.files_not_followed = std::move(read.not_followed);
  }
  std::string of_modules;
  for (const auto& [name, file] : header.modules.files)
    of_modules += fmt::format("{} {}\n", name, header.files.at(file));
  header.sources = c10::sha1(of_modules).str();
  for (const Check& check : project.checks) header.revisions[check.name] = revision_of(check);
  for (const c10::DeviceType device : device_types()) {
    if (std::string model = device_model(device); !model.empty())
      header.devices[device_name(device)] = std::move(model);
  }
  if (const auto costs = part.read_costs()) header.costs = digest(*costs);
  return header;
}

std::optional<Costs> run_cases(Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                               size_t jobs, size_t known, Journal& journal, RunListener& listener,
                               Verbosity verbosity) {
  RunListeners recording({&journal, &listener});
  const size_t without_evidence = todo.size();
  Costs costs = give_by_evidence(project.config, plan, header, todo, recording);
  RunProgress progress(plan.calls, todo, known + without_evidence - todo.size(), verbosity);
  RunListeners all({&recording, &progress});
  const Supervisor supervisor(project.workers, *project.python, plan, header.filter);
  const std::optional<Costs> taken = supervisor.run(todo, jobs, all);
  progress.clear();
  journal.flush();
  if (taken && (todo.size() != 0 || progress.done() != progress.total())) {
    throw setup_error("{} of {} planned cases have no verdict: this is a bug of OpGate, please report it",
                      todo.size(), progress.total());
  }
  if (!taken) return std::nullopt;
  add(*taken, costs);
  return costs;
}

}  // namespace opgate
