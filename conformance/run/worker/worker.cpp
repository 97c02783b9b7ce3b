#include "run/worker/worker.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "crashes/crash_handlers.h"
#include "device/accelerator.h"
#include "device/device.h"
#include "device/simulator.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "memory/guard_pages.h"
#include "packages/package_folder.h"
#include "plan/calls.h"
#include "plan/plan.h"
#include "process/child_process.h"
#include "process/limits.h"
#include "process/line_reader.h"
#include "process/mutants.h"
#include "run/project_setup.h"
#include "run/worker/fork_worker.h"
#include "run/worker/protocol.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using nlohmann::json;

void answer(const json& message) {
  answer_line(message.dump(-1, ' ', false, json::error_handler_t::replace));
}

// True if the worst error is all that there is to report of the case.
bool plain_pass(const Judgement& judgement) {
  return judgement.verdict == Verdict::pass && judgement.reason.empty() && !judgement.finding;
}

void note_memory_limit(Judgement& judgement, uint64_t bytes) {
  const std::string said = judgement.reason + (judgement.finding ? judgement.finding->happened : "");
  if (const std::string note = memory_note(said, bytes); !note.empty()) judgement.add_remark(note);
}

class NativeWorker {
 public:
  explicit NativeWorker(const Setup& setup)
      : setup_(setup),
        mutant_(setup.mutant),
        simulated_(simulate(setup.simulated)),
        subjects_(load_subjects(setup)),
        checks_(all_checks(setup.checks)),
        plan_(make_plan(subjects_, checks_, setup.filter)) {
    if (plan_.digest() != setup.plan) {
      throw SetupError(
          "a worker plans other cases than `opgate` itself: something in a spec, such as a sample's name, "
          "changes from process to process (time, addresses, random numbers, the process id)");
    }
    // Before the first call: a backward on the CPU looks for accelerators, and torch keeps what it finds.
    if (simulated_) {
      enabled_.insert(kSimulatedType);
    } else {
      for (Accelerator* const each : accelerators()) {
        if (!plan_.calls.needs(*each, setup_.worker)) continue;
        each->enable(DeviceAllocator::guarded);
        enabled_.insert(each->type());
      }
    }
    cache_.package_folder = setup.packages;
    cache_.outputs_folder = setup.outputs;
  }

  // Before the first call of this process. The limits come last, because a library may start processes while
  // it is loaded. The helper that makes the GPU's device files has run by now, because `opgate` itself asked
  // the driver for devices.
  void begin() {
    begun_ = true;
    if (mutant_ != 0) choose_mutant(mutant_);
    printed_ = end_of_printed();
    limit_memory(setup_.memory);
    if (!simulated_) forbid_processes();  // the simulated device compiles kernels
  }

  Worker kind() const { return setup_.worker; }

  // Carries out a command, and returns the answer to it, if there is a single one.
  std::optional<json> carry_out(const json& command) {
    if (command.contains("fork")) {
      const json& request = command.at("fork");
      auto said = fork_worker(request);
      if (!said) mutant_ = request.at("mutant");
      return said;
    }
    if (!begun_) begin();
    run(command);
    return std::nullopt;
  }

 private:
  void run(const json& command) {
    for (const json& position : command.at("run")) {
      const auto call = position.get<Calls::Position>();
      if (call >= plan_.calls.size()) throw setup_error("the plan has no call {}", call);
      run(call, command.contains("checks") ? named(command.at("checks")) : planned(call));
    }
  }

  // The libraries that use CUDA are loaded afterwards.
  static bool simulate(bool simulated) {
    if (!simulated) return false;
    enable_simulated_device(DeviceAllocator::guarded);
    return true;
  }

  CheckList named(const json& ids) const {
    CheckList checks;
    for (const json& id : ids) checks.push_back(&find_check(checks_, id.get<std::string>()));
    return checks;
  }

  CheckList planned(Calls::Position call) const {
    CheckList checks = plan_.calls.checks(call);
    std::erase_if(checks,
                  [&](const Check* check) { return plan_.calls.worker(call, *check) != setup_.worker; });
    return checks;
  }

  void run(Calls::Position call, const CheckList& checks) {
    const CallKey key = plan_.calls.key(call);
    std::optional<CallFacts> facts;
    auto judgements = judge_call(key, checks, cache_, &facts);
    if (enabled_.contains(key.device) && is_lost(key.device)) {
      std::cerr << "the " << device_title(key.device) << " context of this process is lost after this call\n";
      _exit(1);  // without an answer: so this call is blamed, and the next ones get a fresh process
    }
    json ulps;
    json told;
    for (auto& [check, judgement] : judgements) {
      if (!plain_pass(judgement)) {
        note_memory_limit(judgement, setup_.memory);
        told[check] = judgement;
      } else if (judgement.worst_ulps > 0) {
        ulps[check] = judgement.worst_ulps;
      }
    }
    const std::streamoff printed = end_of_printed();
    const bool has_printed = std::exchange(printed_, printed) != printed;
    const bool reports_mutants = mutant_ == kReportReached;
    if (ulps.empty() && told.empty() && !facts && !has_printed && !reports_mutants)
      return answer_line(fmt::format(R"({{"ran":{}}})", call));
    json message{{"ran", call}};
    if (!ulps.empty()) message["ulps"] = std::move(ulps);
    if (!told.empty()) message["judgements"] = std::move(told);
    if (facts) message["facts"] = *facts;
    if (has_printed) message["printed"] = printed;
    if (reports_mutants) message["reached"] = reached_mutants();
    answer(message);
  }

  const Setup setup_;
  int mutant_;
  const bool simulated_;
  std::vector<Spec> subjects_;
  std::vector<Check> checks_;
  Plan plan_;
  WorkerCache cache_;
  std::set<c10::DeviceType> enabled_;  // accelerators
  std::streamoff printed_ = 0;
  bool begun_ = false;
};

// Where a result is too large for this process: this call is blamed, and the next ones get a fresh process.
[[noreturn]] int end_without_answer(const std::exception& error) {
  std::cerr << error.what() << '\n';
  _exit(1);
}

}  // namespace

int serve_as_worker() {
  end_with_parent();
  guard_pages::report_faults();
  send_stack_of_crashes();
  LineReader commands(STDIN_FILENO);
  const auto first = commands.next();
  if (!first) return 2;
  std::unique_ptr<NativeWorker> worker;
  try {
    const Setup setup = json::parse(*first).at("setup").get<Setup>();
    worker = std::make_unique<NativeWorker>(setup);
  } catch (const SetupError& error) {
    answer(json{{"broken", error.what()}});
    return 2;
  } catch (const std::exception& error) {  // such as from memory that runs out while the plan is made
    answer(json{{"broken", fmt::format("OpGate itself failed in a worker: {}", first_line(error.what()))}});
    return 2;
  }
  answer(json{{"ready", json::object()}});
  try {
    while (const auto line = commands.next()) {
      if (const auto said = worker->carry_out(json::parse(*line))) answer(*said);
    }
  } catch (const SetupError& error) {
    answer(json{{"broken", error.what()}});
    return 2;
  } catch (const c10::Error& error) {
    return end_without_answer(error);
  } catch (const std::bad_alloc& error) {
    return end_without_answer(error);
  } catch (const std::length_error& error) {
    return end_without_answer(error);
  } catch (const std::exception& error) {
    answer(json{{"broken", fmt::format("OpGate itself failed in the {} worker: {}; the operator is not to "
                                       "blame: please report it",
                                       to_string(worker->kind()), first_line(error.what()))}});
    return 2;
  }
  return 0;
}

}  // namespace opgate
