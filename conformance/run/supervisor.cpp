#include "run/supervisor.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <list>
#include <stdexcept>

#include "device/accelerator.h"
#include "judging/calls/step_count.h"
#include "judging/refusals/assumed_index.h"
#include "process/interrupt.h"
#include "run/obstacles.h"
#include "run/package_jobs.h"
#include "run/worker/attend.h"

namespace opgate {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{50};
// A worker takes longer to start than to run this many calls.
constexpr size_t kCallsWorthAWorker = 64;
constexpr size_t kPythonCallsWorthAWorker = 8;

Setup setup_for(Setup setup, const Plan& plan, const Filter& filter) {
  setup.filter = filter;
  setup.plan = plan.digest();
  return setup;
}

// The ids of the checks that have cases in one of the queues.
std::vector<std::string> checks_in(const std::vector<Queue*>& queues, const Calls& calls) {
  std::vector<std::string> ids;
  for (const Check* check : calls.checks()) {
    if (std::ranges::any_of(queues, [&](const Queue* queue) { return queue->takes(*check); }))
      ids.push_back(check->name);
  }
  return ids;
}

// Removes each case from what is left to do as its verdict comes, and adds up what the calls take. A worker
// that was lost for a reason that is no fault of the operator gives a note.
class OnceEach : public RunListeners {
 public:
  OnceEach(const Calls& calls, CaseSet& todo, RunListener& listener)
      : RunListeners({&listener}), todo_(todo), costs_(calls, todo) {}

  void on_verdict(const JudgedCase& judged) override {
    const auto& [calls, call, check, judgement] = judged;
    if (!todo_.remove(call, check)) throw std::logic_error(fmt::format("{} was judged twice", judged.id()));
    std::optional<Judgement> note;
    if (judgement.verdict == Verdict::crash || judgement.verdict == Verdict::timeout) {
      const CallKey key = calls.key(call);
      note = note_of_lost_worker(key, judgement);
      if (!note) note = note_of_step_count(key, judgement);
    }
    RunListeners::on_verdict({calls, call, check, note ? *note : judgement});
  }
  void on_time(const Job& job, double seconds) override { costs_.add(job, seconds); }

  Costs costs() const { return costs_.costs(); }

 private:
  CaseSet& todo_;
  CostTracker costs_;
};

// Lets the workers do what is in their queues. Returns false if it was interrupted or stopped.
bool serve(std::list<WorkerClient>& workers, RunListener& listener) {
  auto next_progress = std::chrono::steady_clock::now();
  while (true) {
    std::vector<WorkerClient*> busy;
    for (WorkerClient& worker : workers) {
      if (!worker.finished()) busy.push_back(&worker);
    }
    if (busy.empty()) return true;
    if (!attend(busy) || listener.is_stopped()) return false;
    if (std::chrono::steady_clock::now() < next_progress) continue;
    next_progress = std::chrono::steady_clock::now() + kProgressInterval;
    std::vector<std::string> current;
    for (const WorkerClient* worker : busy) {
      if (std::string text = worker->current(); !text.empty()) current.push_back(std::move(text));
    }
    listener.on_progress(current);
  }
}

}  // namespace

Supervisor::Supervisor(const WorkerConfig& config, PythonHalf& python, const Plan& plan, const Filter& filter)
    : programs_(config.programs),
      setup_(setup_for(config.setup, plan, filter)),
      limits_(config.limits),
      python_(python),
      plan_(plan) {
  watch_signals();
}

WorkerProgram Supervisor::program_of(Worker kind, bool simulated, bool is_alone, size_t number) const {
  return worker_program(programs_, setup_, kind, simulated, number, is_alone);
}

std::optional<Costs> Supervisor::run(CaseSet& todo, size_t jobs, RunListener& listener) const {
  OnceEach once(plan_.calls, todo, listener);
  give_owed(todo, once);
  try {
    for (const bool simulated : {false, true}) {
      if (!run_on(simulated, todo, jobs, once)) return std::nullopt;
    }
  } catch (const SetupError&) {  // a worker may have found what the kept catalog did not show
    python_.forget();
    throw;
  }
  return once.costs();
}

// Runs the calls on simulated devices, or all others. The processes of the former have loaded other libraries
// of CUDA.
bool Supervisor::run_on(bool simulated, const CaseSet& todo, size_t jobs, RunListener& listener) const {
  const size_t natives = std::min(jobs, todo.calls_with(Worker::native, simulated) / kCallsWorthAWorker + 1);
  Queue native(Worker::native, simulated, plan_.calls, todo, limits_.native_case, natives, listener);
  const bool two_pythons = jobs > 1 && todo.calls_with(Worker::python, simulated) >= kPythonCallsWorthAWorker;
  const size_t pythons = two_pythons ? 2 : 1;
  const bool is_alone =
      natives == 1 && pythons == 1 &&
      (todo.calls_with(Worker::native, simulated) == 0 || todo.calls_with(Worker::python, simulated) == 0);
  const auto python_queue = [&](Queue::Part part) {
    return Queue(Worker::python, simulated, plan_.calls, todo, limits_.python_case,
                 part == Queue::Part::packaged ? 1 : pythons, listener, part);
  };
  Queue packages = python_queue(Queue::Part::packaged);
  Queue quick = python_queue(Queue::Part::quick);
  Queue slow = python_queue(Queue::Part::slow);
  Queue aoti(Worker::aoti, simulated, plan_.calls, todo, limits_.python_case, 1, listener);
  const PackageJobs package_jobs(setup_.packages, limits_);
  package_jobs.add(simulated, plan_.calls, todo, packages);
  const auto work = [&](std::vector<Queue*> queues, size_t sharers) {
    return WorkerClient::Work{std::move(queues), sharers, listener,
                              [&](const nlohmann::json& preparation, const Judgement& lost) {
                                package_jobs.note_failure(preparation, lost, packages);
                              }};
  };
  std::list<WorkerClient> workers;
  WorkerTemplate native_template(program_of(Worker::native, simulated, is_alone));
  const bool forks = simulated || std::ranges::none_of(accelerators(), [&](const Accelerator* accelerator) {
                       return plan_.calls.needs(*accelerator, Worker::native);
                     });
  for (size_t number = 1; number <= natives; ++number) {
    workers.emplace_back(
        program_of(Worker::native, simulated, is_alone, number), work({&native}, natives),
        forks ? std::optional(WorkerClient::ForkedFrom{&native_template, {}}) : std::nullopt);
  }
  WorkerTemplate simulated_python(program_of(Worker::python, true, is_alone));
  WorkerTemplate& python = simulated ? simulated_python : python_.process();
  const auto add_python = [&](size_t number, const std::vector<Queue*>& queues) {
    WorkerProgram program = program_of(Worker::python, simulated, is_alone, number);
    if (!simulated) {  // modules may register more where there is CUDA
      program.on_ready = [&](const nlohmann::json& said) { python_.demand_same(said); };
    }
    workers.emplace_back(std::move(program), work(queues, pythons),
                         WorkerClient::ForkedFrom{&python, checks_in(queues, plan_.calls)});
  };
  if (two_pythons) {
    add_python(1, {&quick, &slow});
    add_python(2, {&packages, &slow, &quick});
  } else {
    add_python(1, {&quick, &slow, &packages});
  }
  if (!serve(workers, listener)) return false;
  for (WorkerClient& worker : workers) worker.close();
  for (WorkerClient& worker : workers) worker.dismiss();
  python.dismiss();
  native_template.dismiss();

  // The aoti worker starts last, because it runs what the Python worker has packaged.
  std::list<WorkerClient> last;
  last.emplace_back(program_of(Worker::aoti, simulated, /*is_alone=*/true), work({&aoti}, 1));
  if (!serve(last, listener)) return false;
  last.front().dismiss();
  return true;
}

void Supervisor::give_owed(const CaseSet& todo, RunListener& listener) const {
  Obstacles obstacles(plan_.calls);
  for (Calls::Position call = 0; call < plan_.calls.size(); ++call) {
    for (const Check* check : todo.of(call)) {
      if (const auto obstacle = obstacles.to(call, *check))
        listener.on_verdict({plan_.calls, call, *check, obstacles.owed(call, *check, obstacle->reason)});
    }
  }
}

}  // namespace opgate
