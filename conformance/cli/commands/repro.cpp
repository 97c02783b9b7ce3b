// opgate repro CASE: runs one case alone and prints its call, or prints a script that needs no OpGate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/dtypes.h"
#include "base/errors.h"
#include "base/tensors_in.h"
#include "cli/commands/subcommand.h"
#include "cli/project/other_call.h"
#include "cli/project/project.h"
#include "cli/project/smaller_call.h"
#include "cli/results/in_colour.h"
#include "cli/results/tally.h"
#include "cli/scripts/script_request.h"
#include "cli/terminal/terminal.h"
#include "compare/comparison.h"
#include "inputs/arguments.h"
#include "judging/all_checks.h"
#include "plan/case_parts.h"
#include "process/run_program.h"
#include "run/python/programs.h"
#include "spec/spec.h"

namespace opgate::repro {
namespace {

struct ReproOptions {
  ProjectOptions project;
  std::string id;
  bool as_script = false;
  bool keep = false;  // the call of the case, where a smaller one shows the same
};

std::string describe_tensor(const TensorInput& input) {
  constexpr int64_t kShown = 6;
  std::vector<std::string> first;
  for (int64_t i = 0; i < std::min(kShown, input.tensor.numel()); ++i)
    first.push_back(element_text(input.tensor, i));
  return fmt::format("shape {} strides {} offset {} {} of {} storage elements, values {}{}",
                     index_text(input.tensor.sizes()), index_text(input.tensor.strides()),
                     input.tensor.storage_offset(), dtype_name(input.tensor.scalar_type()),
                     input.geometry.elements, fmt::join(first, " "),
                     input.tensor.numel() > kShown ? " ..." : "");
}

void describe_call(const PlannedCall& call) {
  if (call.key.spec->kind == Spec::Kind::op) {
    std::ostringstream schema;
    schema << call.key.spec->op->schema();
    fmt::print("schema   {}\n", schema.str());
  }
  fmt::print("spec     {}\n", call.key.sample->where);
  ValueCache values;
  const Arguments arguments = materialize(on_cpu(call.key), values);  // also on a machine without the device
  for (const TensorInput& input : arguments.tensors)
    fmt::print("{:8} {}\n", input.name, describe_tensor(input));
  const size_t count = std::min(arguments.stack.size(), call.key.sample->arguments.size());
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue& given = arguments.stack.at(i);  // altered if the case is a bad input
    if (given.isTensor() || !tensors_in(given).empty()) continue;
    std::ostringstream text;
    text << given;
    fmt::print("{:8} {}\n", argument_name(*call.key.spec, i), text.str());
  }
}

// The case must be one that `opgate run` would run, because a check may not be meant for every call. Throws
// SetupError if it is not planned.
Plan plan_of_one(const Project& project, const Filter& filter, const std::string& id, const Check& check) {
  try {
    return make_plan(project.subjects, project.checks, filter);
  } catch (const SetupError&) {
    // The filter names one well-formed case, so the only possible error is that it is not planned.
    throw setup_error("{} is not planned for {}; see `opgate list cases`", check.name, id);
  }
}

struct Repeated {
  std::optional<Judgement> judgement;  // none if it was interrupted
  int status = kInterrupted;
  nlohmann::json script;  // what it says, only if it was asked for
  std::optional<OtherCall> smaller;
};

// Runs the case alone. With `as_script`, notes what its script says, and otherwise prints the call and what
// is found. Looks for a smaller call where that is wanted and the case is broken.
Repeated repeat(const ProjectOptions& options, const std::string& id, bool as_script, bool look_for_smaller) {
  Project project = open_project(options);
  const CaseParts parts = parts_of_case(id);
  const Check& check = find_check(project.checks, std::string(parts.check));
  const CallKey key = parse_call_id(project.subjects, std::string(parts.call));
  const Filter filter{.ops = {pattern_of(key.spec->id)},
                      .checks = {check.name},
                      .devices = {device_name(key.device, key.simulated)},
                      .cases = {pattern_of(call_id(key) + "/" + check.name)},
                      .simulated = key.simulated};
  const Plan plan = plan_of_one(project, filter, id, check);
  Repeated repeated;
  if (as_script) {
    repeated.script = script_request(plan.calls[0], check, project.config, project.workers.setup);
  } else {
    describe_call(plan.calls[0]);
  }
  Tally tally(options.again());
  CaseSet todo(plan.calls, {});
  VerdictListener listener([&](const JudgedCase& judged) {
    tally.on_verdict(judged);
    repeated.judgement = judged.judgement;
    if (as_script)
      repeated.script["judgement"] = judged.judgement;
    else
      fmt::print("\n{}", finding_in_colour(judged.id(), judged.judgement, options.again()));
  });
  const Supervisor supervisor(project.workers, *project.python, plan, filter);
  if (!supervisor.run(todo, 1, listener)) return repeated;
  repeated.status = tally.exit_status();
  if (look_for_smaller && repeated.judgement && is_broken(repeated.judgement->verdict))
    repeated.smaller = find_smaller_call(options, key, check, *repeated.judgement);
  return repeated;
}

// Notes what the script of the case says, or of the call that shows what is wrong with it, which may be
// another one.
Repeated make_script(const ProjectOptions& options, const std::string& id, bool look_for_smaller) {
  Repeated repeated = repeat(options, id, true, look_for_smaller);
  std::optional<OtherCall> shown = std::move(repeated.smaller);
  if (repeated.judgement && !repeated.judgement->example.empty())
    shown = call_of_example(options, id, repeated.judgement->example);
  if (!shown) return repeated;
  ProjectOptions of_samples = options;
  of_samples.samples = shown->samples;
  const bool is_smaller = repeated.judgement->example.empty();
  repeated.script = is_smaller ? repeat(of_samples, shown->case_id, true, false).script
                               : make_script(of_samples, shown->case_id, look_for_smaller).script;
  return repeated;
}

int repro(const ReproOptions& options) {
  if (!options.as_script) return repeat(options.project, options.id, false, false).status;
  Repeated repeated = make_script(options.project, options.id, !options.keep);
  if (!repeated.script.contains("judgement")) return repeated.status;  // it was interrupted
  repeated.script["status"] = repeated.status;
  become(python_command(this_program(options.project.read()), "opgate.script", repeated.script));
}

std::function<int()> declare(CommandLine& app) {
  app.description("Run one case alone and show its schema, its arguments and what happened");
  auto options = std::make_shared<ReproOptions>();
  options->project.declare(app);
  app.add_option("CASE", options->id, "a case id, as in a defect or in `opgate list cases`").required();
  CommandLineOption as_script = app.add_flag(
      "--python", options->as_script,
      "print a script of plain torch calls that shows the same without OpGate, for a bug report; "
      "its call is the smallest that shows the defect");
  app.add_flag("--keep", options->keep, "with --python: the call as it is, and not a smaller one")
      .needs(as_script);
  return [=] { return repro(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(repro, {"repro", &declare});

}  // namespace
}  // namespace opgate::repro
