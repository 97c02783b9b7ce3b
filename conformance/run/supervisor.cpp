#include "run/supervisor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

#include "base/build.h"
#include "base/files.h"
#include "device/device.h"
#include "device/simulator.h"
#include "judging/assumed_index.h"
#include "judging/fake_kernel.h"
#include "process/interrupt.h"
#include "run/cost_tracker.h"
#include "run/obstacles.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kPollMilliseconds = 100;
// Answers are read in batches: waking up for each one costs more than reading it.
constexpr std::chrono::milliseconds kAnswerBatchInterval{1};
constexpr std::chrono::milliseconds kProgressInterval{50};
// A worker takes longer to start than to run this many calls.
constexpr size_t kCallsWorthAWorker = 64;
constexpr size_t kPythonCallsWorthAWorker = 8;

// Stores why no package could be made, so that the cases which need it can report the reason.
void note_failed_package(const fs::path& folder, const json& preparation, const std::string& reason) {
  if (!preparation.contains("package")) return;  // each case repeats a "run_package" that failed
  const std::string device = preparation.at("package").at("device");
  std::ofstream(folder / (device + ".json")) << json{{"error", reason}}.dump() << "\n";
}

// While Python makes packages, this file names what it works on: the ids of the calls that it exports, or
// the name of the package that it runs, and the text to report if the worker ends there.
fs::path what_python_is_at(const fs::path& folder, const std::string& device) {
  return folder / (device + ".at.json");
}

// The same preparation without the calls or packages that killed or hung the worker; none where the worker
// was not working on one.
std::optional<json> without_culprit(const fs::path& folder, const json& preparation,
                                    const std::string& reason) {
  if (!preparation.contains("package")) return std::nullopt;
  json package = preparation.at("package");
  const fs::path file = what_python_is_at(folder, package.at("device"));
  std::ifstream stream(file);
  const json at = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  std::error_code failed;
  if (!at.is_object() || !fs::remove(file, failed)) return std::nullopt;
  const std::string why =
      reason.find("SIGALRM") == std::string::npos
          ? reason
          : fmt::format("it took longer than {} s, which is the limit (--python-time-limit)",
                        package.at("seconds").get<int64_t>());
  for (const json& culprit : at.at("culprits")) {
    package["ended"][culprit.get<std::string>()] =
        fmt::format("{}: {}", at.at("failed").get<std::string>(), why);
  }
  return json{{"package", package}};
}

// "worker-native.log", "worker-native-2.log", "worker-python-sim.log": each worker has its own log, so that the last lines of a
// worker that died are not mixed with another's.
fs::path log_of(const fs::path& folder, Worker kind, bool simulated, size_t number) {
  return folder / fmt::format("worker-{}{}{}.log", to_string(kind), simulated ? "-sim" : "",
                              number == 1 ? "" : fmt::format("-{}", number));
}

}  // namespace

// The interpreter that OPGATE_PYTHON names; else the one that this OpGate was built for; else, in a wheel
// that was built elsewhere (ENVIRONMENT/lib/python3.11/site-packages/opgate/bin/opgate), that environment's
// own.
std::string python_interpreter() {
  const char* chosen = std::getenv("OPGATE_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  fs::path environment = this_executable();
  for (int level = 0; level < 6; ++level) environment = environment.parent_path();
  const fs::path beside = environment / "bin" / "python3";
  return fs::exists(kPython) || !fs::exists(beside) ? kPython : beside.string();
}

Programs this_program(const Config& config) {
  const fs::path program = this_executable();
  Programs programs{program, python_interpreter(), config.python_path, config.output};
  programs.python_path.insert(programs.python_path.begin(), program.parent_path().parent_path() / "python");
  return programs;
}

Command python_command(const Programs& programs, const std::string& module) {
  std::vector<std::string> folders;
  for (const fs::path& folder : programs.python_path) folders.push_back(folder.string());
  if (const char* present = std::getenv("PYTHONPATH")) folders.emplace_back(present);
  // -P keeps modules in the working directory from shadowing others.
  return {{programs.python, "-P", "-m", module},
          {{"PYTHONPATH", fmt::format("{}", fmt::join(folders, ":"))}}};
}

Supervisor::Supervisor(Programs programs, Setup setup, Limits limits)
    : programs_(std::move(programs)),
      setup_(std::move(setup)),
      limits_(limits),
      python_(program_of(Worker::python)),
      memory_(command_of(Worker::python), setup_) {
  watch_signals();
}

Command Supervisor::command_of(Worker kind) const {
  Command command = kind == Worker::python ? python_command(programs_, "opgate")
                                           : Command{{programs_.opgate, "worker"}, {}};
  // Some native kernels sum in another order with another thread count. So the count is the same on every
  // machine, and more than one, so that parallel code does run in parallel.
  if (kind == Worker::native && std::getenv("OMP_NUM_THREADS") == nullptr)
    command.environment.emplace("OMP_NUM_THREADS", "2");
  // Threads of OpenMP that wait for work keep a core busy, which another worker could use. With two workers on two cores this
  // takes most of the time.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) command.environment.emplace("OMP_WAIT_POLICY", "passive");
  // Without this variable, a package that receives another shape or dtype returns wrong results without an
  // error.
  if (std::getenv("AOTI_RUNTIME_CHECK_INPUTS") == nullptr)
    command.environment.emplace("AOTI_RUNTIME_CHECK_INPUTS", "1");
  return command;
}

WorkerHandle::Program Supervisor::program_of(Worker kind, bool simulated, size_t number) const {
  Setup setup = setup_;
  setup.worker = kind;
  setup.memory = limits_.memory;
  setup.simulated = simulated;
  Command command = command_of(kind);
  if (simulated) command.environment.merge(simulator_environment());
  // To know the sizes of a result before the stream computes it, ATen asks its meta kernels, many of which are written in
  // Python and take longer than the operator. Checks of the order of work run natively.
  if (simulated && kind == Worker::python) command.environment.emplace("OPGATE_SIM_ATEN_AT_ONCE", "1");
  return {std::move(command), log_of(programs_.logs, kind, simulated, number), std::move(setup)};
}

void Supervisor::make_folders() const {
  std::error_code failed;
  fs::create_directories(setup_.packages, failed);  // inside the folder of the logs
  if (failed) {
    throw SetupError(fmt::format("cannot write into {}: {}; give another folder with --output",
                                 programs_.logs.string(), failed.message()));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(programs_.logs)) {
    if (entry.path().filename().string().starts_with("worker-")) fs::remove(entry.path(), failed);
  }
}

std::vector<std::string> Supervisor::python_check_ids() const {
  const fs::path prefix = programs_.opgate.parent_path().parent_path();
  std::vector<std::string> ids;
  for (const fs::path& folder : {prefix / "python" / "opgate" / "checks", prefix / "checks"}) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
      std::string id = entry.path().stem();
      if (entry.path().extension() != ".py" || id.starts_with('_')) continue;
      if (const size_t end = id.find('_'); end != std::string::npos) id[end] = '.';
      ids.push_back(std::move(id));
    }
  }
  return ids;
}

void Supervisor::start_python() {
  if (programs_.python.find('/') != std::string::npos && !fs::exists(programs_.python)) {
    throw SetupError(
        fmt::format("there is no Python interpreter {}; set OPGATE_PYTHON to one that has torch {}",
                    programs_.python, kTorchVersion));
  }
  recalled_ = memory_.recall();
  if (!recalled_) python_.start();
}

PythonCatalog Supervisor::python_catalog() {
  const json said = recalled_ ? *recalled_ : python_.await_ready();
  const PythonCatalog half = python_catalog_from(said, programs_.python);
  if (!recalled_) memory_.keep(said);
  on_python_ready_ = [this, said](json now) {
    // Every worker plans with the first description, so later ones must equal it. The files that a worker
    // read may differ.
    json before = said;
    before.erase("files");
    now.erase("files");
    if (now == before) return;
    memory_.forget();
    throw SetupError(
        "Python now describes other operators, models or checks than when this run was planned: one of its "
        "files was changed, or a module depends on more than files of Python; run again");
  };
  python_.on_ready(on_python_ready_);
  setup_.checks = half.checks;
  setup_.models = half.models;
  setup_.python_kernels = half.python_kernels;
  return half;
}

bool Supervisor::run(const Plan& plan, const Filter& filter, CaseSet& todo, size_t jobs,
                     const WorkerHandle::Listener& listener, const OnProgress& on_progress) {
  setup_.filter = filter;
  setup_.plan = plan.digest();
  const Queue::OnVerdict once = [&](Calls::Position call, const Check& check, const Judgement& judgement) {
    if (!todo.remove(call, check))
      throw std::logic_error(fmt::format("{} was judged twice", case_id(plan.calls[call], check)));
    std::optional<Judgement> note;
    if (judgement.verdict == Verdict::crash || judgement.verdict == Verdict::timeout)
      note = note_of_lost_worker(plan.calls.key(call), judgement);
    listener.verdict(call, check, note.value_or(judgement));
  };
  CostTracker cost_tracker(plan.calls, todo);
  const auto took = [&](const Job& job, double seconds) { cost_tracker.add(job, seconds); };
  const WorkerHandle::Listener hear{once, listener.facts, took};
  give_owed(plan.calls, todo, once);
  for (const bool simulated : {false, true}) {
    if (!run_on(simulated, plan, todo, jobs, hear, on_progress)) return false;
  }
  costs_ = cost_tracker.costs();
  return true;
}

// Runs the calls on simulated devices, or all others. The processes of the former have loaded other libraries of CUDA.
bool Supervisor::run_on(bool simulated, const Plan& plan, const CaseSet& todo, size_t jobs,
                        const WorkerHandle::Listener& hear, const OnProgress& on_progress) {
  const Queue::OnVerdict& once = hear.verdict;
  const size_t workers = std::min(jobs, todo.calls_with(Worker::native, simulated) / kCallsWorthAWorker + 1);
  Queue native(Worker::native, simulated, plan.calls, todo, limits_.native_case, workers, once);
  const bool two_pythons = jobs > 1 && todo.calls_with(Worker::python, simulated) >= kPythonCallsWorthAWorker;
  const size_t pythons = two_pythons ? 2 : 1;
  const auto python_queue = [&](Queue::Part part) {
    return Queue(Worker::python, simulated, plan.calls, todo, limits_.python_case,
                 part == Queue::Part::packaged ? 1 : pythons, once, part);
  };
  Queue packages = python_queue(Queue::Part::packaged);
  Queue quick = python_queue(Queue::Part::quick);
  Queue slow = python_queue(Queue::Part::slow);
  Queue aoti(Worker::aoti, simulated, plan.calls, todo, limits_.python_case, 1, once);
  prepare_packages(simulated, plan.calls, todo, packages);
  PythonTemplate simulated_python(program_of(Worker::python, true));
  PythonTemplate& python = simulated ? simulated_python : python_;
  const auto note_failure = [&](const json& preparation, const std::string& reason) {
    if (auto without = without_culprit(setup_.packages, preparation, reason)) {
      packages.put_back({.preparation = *std::move(without), .limit = limits_.package});
    } else {
      note_failed_package(setup_.packages, preparation, reason);
    }
  };
  std::list<WorkerHandle> native_workers;
  std::vector<WorkerHandle*> handles;
  for (size_t number = 1; number <= workers; ++number) {
    native_workers.emplace_back(program_of(Worker::native, simulated, number));
    handles.push_back(&native_workers.back());
    native_workers.back().work_on({&native}, workers, hear, note_failure);
  }
  std::list<WorkerHandle> python_workers;
  const auto add_python = [&](std::vector<Queue*> queues) {
    WorkerHandle& worker =
        python_workers.emplace_back(program_of(Worker::python, simulated, 1 + python_workers.size()));
    if (!simulated) worker.on_ready(on_python_ready_);  // modules may register more where there is CUDA
    std::vector<std::string> checks;
    for (const Check* check : plan.calls.checks()) {
      if (std::ranges::any_of(queues, [&](const Queue* queue) { return queue->takes(*check); }))
        checks.push_back(check->name);
    }
    worker.fork_from(python, std::move(checks));
    worker.work_on(std::move(queues), pythons, hear, note_failure);
    handles.push_back(&worker);
  };
  if (two_pythons) {
    add_python({&quick, &slow});
    add_python({&packages, &slow, &quick});
  } else {
    add_python({&quick, &slow, &packages});
  }
  if (!serve(handles, on_progress)) return false;
  for (WorkerHandle* worker : handles) worker->close();
  for (WorkerHandle* worker : handles) worker->dismiss();
  python.dismiss();

  // The aoti worker starts last, because it runs what the Python worker has packaged.
  WorkerHandle aoti_worker(program_of(Worker::aoti, simulated));
  aoti_worker.work_on({&aoti}, 1, hear, note_failure);
  if (!serve({&aoti_worker}, on_progress)) return false;
  aoti_worker.dismiss();
  return true;
}

void Supervisor::give_owed(const Calls& calls, const CaseSet& todo,
                           const Queue::OnVerdict& on_verdict) const {
  const std::map<Calls::Position, Calls::Position> simulated = calls.simulated_twins();
  const auto asked_on_simulator = [&](Calls::Position call, const Check& check) {
    const auto twin = simulated.find(call);
    return twin != simulated.end() && std::ranges::count(calls.checks(twin->second), &check) > 0;
  };
  Obstacles obstacles(calls);
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const Obstacle& obstacle = obstacles.of(call);
    for (const Check* check : todo.of(call)) {
      if (!obstacle.reason.empty() && (check->needs_device || !obstacle.known_kernels))
        on_verdict(call, *check, Judgement::owed(obstacle.reason, asked_on_simulator(call, *check)));
      else if (check->needs_fake && calls.spec(call).lacks_fake)
        on_verdict(call, *check, Judgement::owed(std::string(kNoFakeKernel)));
    }
  }
}

void Supervisor::prepare_packages(bool simulated, const Calls& calls, const CaseSet& todo,
                                  Queue& python) const {
  std::map<std::string, json> packaged;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (calls.simulated(call) != simulated || std::ranges::none_of(todo.of(call), &Check::needs_package))
      continue;
    packaged[calls.device_name(call)].push_back(calls.id(call));
  }
  for (const auto& [device, ids] : packaged) {
    fs::remove(fs::path(setup_.packages) / (device + ".json"));
    fs::remove(what_python_is_at(setup_.packages, device));
    const json package{{"device", device},
                       {"calls", ids},
                       {"ended", json::object()},
                       {"seconds", limits_.python_case.count()}};
    python.add_preparation({{"package", package}}, limits_.package);
    python.add_preparation({{"run_package", {{"device", device}}}}, limits_.python_case);
  }
}

bool Supervisor::serve(const std::vector<WorkerHandle*>& handles, const OnProgress& on_progress) const {
  auto next_progress = std::chrono::steady_clock::now();
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<WorkerHandle*> waiting_workers;
    for (WorkerHandle* worker : handles) {
      if (worker->finished()) continue;
      worker->feed();
      waiting.push_back({worker->answers(), POLLIN, 0});
      waiting.push_back({worker->commands(), POLLOUT, 0});
      waiting_workers.push_back(worker);
    }
    if (waiting.empty()) return true;
    poll(waiting.data(), waiting.size(), kPollMilliseconds);
    if (interrupted() || stopped_) return false;
    std::this_thread::sleep_for(kAnswerBatchInterval);
    for (size_t i = 0; i < waiting_workers.size(); ++i) {
      if (waiting[2 * i + 1].revents != 0) waiting_workers[i]->send();
      if (waiting[2 * i].revents != 0) waiting_workers[i]->receive();
      waiting_workers[i]->check_deadline();
    }
    if (std::chrono::steady_clock::now() < next_progress) continue;
    next_progress = std::chrono::steady_clock::now() + kProgressInterval;
    std::vector<std::string> current;
    for (const WorkerHandle* worker : waiting_workers) {
      if (std::string text = worker->current(); !text.empty()) current.push_back(std::move(text));
    }
    on_progress(current);
  }
}

}  // namespace opgate
