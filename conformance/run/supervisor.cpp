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
#include "call/device.h"
#include "run/interrupt.h"
#include "run/spending.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kPollMilliseconds = 100;
// Answers are read by the handful: to wake up for each would cost more than to read it.
constexpr std::chrono::milliseconds kGather{1};
constexpr std::chrono::milliseconds kBetweenProgress{50};
// It takes a worker longer to start than to run so many calls.
constexpr size_t kCallsWorthAWorker = 64;
constexpr size_t kPythonCallsWorthAWorker = 8;

// Where no package could be made, the cases that need it say why.
void note_failed_package(const fs::path& folder, const json& preparation, const std::string& reason) {
  if (!preparation.contains("package")) return;  // its run is made up for by the cases, one by one
  const std::string device = preparation.at("package").at("device");
  std::ofstream(folder / (device + ".json")) << json{{"error", reason}}.dump() << "\n";
}

// While Python makes packages, this file says what it is at: calls by id that it exports, or a package by
// name that it runs, and what failed if it ends there.
fs::path what_python_is_at(const fs::path& folder, const std::string& device) {
  return folder / (device + ".at.json");
}

// The same packages without those that the worker died of, or hung in; none where it was at something else.
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

// Why calls of the operator cannot run on this device of this machine, if so.
std::optional<std::string> why_owed(const Spec& spec, c10::DeviceType device) {
  if (auto reason = missing_device(device)) return reason;
  if (device != c10::kCUDA || !spec.op || spec.kernels_in_python) return std::nullopt;
  if (spec.op->hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) return std::nullopt;
  return fmt::format("{} has no CUDA kernel in the library that is loaded (was it built without nvcc?)",
                     spec.id);
}

// The one that the environment names; or that this OpGate was built for; or, in a wheel that was built
// elsewhere (ENVIRONMENT/lib/python3.11/site-packages/opgate/bin/opgate), the environment's.
std::string interpreter_for(const fs::path& program) {
  const char* chosen = std::getenv("OPGATE_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  fs::path environment = program;
  for (int level = 0; level < 6; ++level) environment = environment.parent_path();
  const fs::path beside = environment / "bin" / "python3";
  return fs::exists(kPython) || !fs::exists(beside) ? kPython : beside.string();
}

// "worker-native.log", "worker-native-2.log": each its own, so that what one printed last is found.
fs::path log_of(const fs::path& folder, Worker kind, size_t number) {
  if (number == 1) return folder / fmt::format("worker-{}.log", to_string(kind));
  return folder / fmt::format("worker-{}-{}.log", to_string(kind), number);
}

}  // namespace

Programs this_program(const Config& config) {
  const fs::path program = this_executable();
  Programs programs{program, interpreter_for(program), config.python_path, config.output};
  programs.python_path.insert(programs.python_path.begin(), program.parent_path().parent_path() / "python");
  return programs;
}

Command python_command(const Programs& programs, const std::string& module) {
  std::vector<std::string> folders;
  for (const fs::path& folder : programs.python_path) folders.push_back(folder.string());
  if (const char* present = std::getenv("PYTHONPATH")) folders.emplace_back(present);
  // -P: modules of the working directory are not meant.
  return {{programs.python, "-P", "-m", module},
          {{"PYTHONPATH", fmt::format("{}", fmt::join(folders, ":"))}}};
}

Supervisor::Supervisor(Programs programs, Setup setup, Limits limits)
    : programs_(std::move(programs)),
      setup_(std::move(setup)),
      limits_(limits),
      python_(make_lane(Worker::python)),
      memory_(command_of(Worker::python), setup_) {
  watch_signals();
}

Command Supervisor::command_of(Worker kind) const {
  Command command = kind == Worker::python ? python_command(programs_, "opgate")
                                           : Command{{programs_.opgate, "worker"}, {}};
  // Some native kernels add up in another order with other thread counts: the same on every machine, and more
  // than one, so that parallel code does run in parallel.
  if (kind == Worker::native && std::getenv("OMP_NUM_THREADS") == nullptr)
    command.environment.emplace("OMP_NUM_THREADS", "2");
  // Without it a package that is given another shape or dtype answers wrongly and says nothing.
  if (std::getenv("AOTI_RUNTIME_CHECK_INPUTS") == nullptr)
    command.environment.emplace("AOTI_RUNTIME_CHECK_INPUTS", "1");
  return command;
}

Lane Supervisor::make_lane(Worker kind, size_t number) const {
  Setup setup = setup_;
  setup.worker = kind;
  setup.memory = limits_.memory;
  return Lane({command_of(kind), log_of(programs_.logs, kind, number), std::move(setup)});
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

PythonHalf Supervisor::python_half() {
  const json said = recalled_ ? *recalled_ : python_.await_ready();
  const PythonHalf half = python_half_from(said, programs_.python);
  if (!recalled_) memory_.keep(said);
  on_python_ready_ = [this, said](json now) {
    // Every worker plans with what was said first. What was read meanwhile does not matter by itself.
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
  setup_.sources = half.sources;
  return half;
}

bool Supervisor::run(const Plan& plan, const Filter& filter, CaseSet& todo, size_t jobs,
                     const Lane::Listener& listener, const OnProgress& on_progress) {
  setup_.filter = filter;
  setup_.plan = plan.digest();
  const Queue::OnVerdict once = [&](Calls::Position call, const Check& check, const Judgement& judgement) {
    if (!todo.remove(call, check))
      throw std::logic_error(fmt::format("{} was judged twice", case_id(plan.calls[call], check)));
    listener.verdict(call, check, judgement);
  };
  Spending spending(plan.calls, todo);
  const auto took = [&](const Job& job, double seconds) { spending.add(job, seconds); };
  const Lane::Listener hear{once, listener.facts, took};
  give_owed(plan.calls, todo, once);

  const size_t workers = std::min(jobs, todo.calls_with(Worker::native) / kCallsWorthAWorker + 1);
  Queue native(Worker::native, plan.calls, todo, limits_.native_case, workers, once);
  const bool two_pythons = jobs > 1 && todo.calls_with(Worker::python) >= kPythonCallsWorthAWorker;
  const size_t pythons = two_pythons ? 2 : 1;
  Queue packages(Worker::python, plan.calls, todo, limits_.python_case, 1, once, Queue::Packages::needed);
  Queue python(Worker::python, plan.calls, todo, limits_.python_case, pythons, once,
               Queue::Packages::not_needed);
  Queue aoti(Worker::aoti, plan.calls, todo, limits_.python_case, 1, once);
  prepare_packages(plan.calls, todo, packages);
  const auto note_failure = [&](const json& preparation, const std::string& reason) {
    if (auto without = without_culprit(setup_.packages, preparation, reason)) {
      packages.put_back({.preparation = *std::move(without), .limit = limits_.package});
    } else {
      note_failed_package(setup_.packages, preparation, reason);
    }
  };
  std::list<Lane> native_lanes;
  std::vector<Lane*> lanes{&python_};
  for (size_t number = 1; number <= workers; ++number) {
    native_lanes.push_back(make_lane(Worker::native, number));
    lanes.push_back(&native_lanes.back());
    native_lanes.back().work_on({&native}, workers, hear, note_failure);
  }
  python_.work_on({&packages, &python}, pythons, hear, note_failure);
  Lane second_python = make_lane(Worker::python, 2);
  if (two_pythons) {
    second_python.on_ready(on_python_ready_);
    second_python.work_on({&python}, pythons, hear, note_failure);
    lanes.push_back(&second_python);
  }
  if (!serve(lanes, on_progress)) return false;
  for (Lane* lane : lanes) lane->close();
  for (Lane* lane : lanes) lane->dismiss();

  // The aoti worker runs what the Python worker has packaged.
  Lane aoti_lane = make_lane(Worker::aoti);
  aoti_lane.work_on({&aoti}, 1, hear, note_failure);
  if (!serve({&aoti_lane}, on_progress)) return false;
  aoti_lane.dismiss();
  costs_ = spending.costs();
  return true;
}

void Supervisor::give_owed(const Calls& calls, const CaseSet& todo,
                           const Queue::OnVerdict& on_verdict) const {
  std::map<std::pair<const Spec*, c10::DeviceType>, std::optional<std::string>> reasons;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const auto [known, is_new] = reasons.try_emplace({&calls.spec(call), calls.device(call)}, std::nullopt);
    if (is_new) known->second = why_owed(calls.spec(call), calls.device(call));
    if (!known->second) continue;
    for (const Check* check : todo.of(call)) on_verdict(call, *check, Judgement::owed(*known->second));
  }
}

void Supervisor::prepare_packages(const Calls& calls, const CaseSet& todo, Queue& python) const {
  std::map<std::string, json> packaged;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (std::ranges::none_of(todo.of(call), &Check::needs_package)) continue;
    packaged[device_name(calls.device(call))].push_back(calls.id(call));
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

bool Supervisor::serve(const std::vector<Lane*>& lanes, const OnProgress& on_progress) const {
  auto next_progress = std::chrono::steady_clock::now();
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Lane*> waiting_lanes;
    for (Lane* lane : lanes) {
      if (lane->finished()) continue;
      lane->feed();
      waiting.push_back({lane->answers(), POLLIN, 0});
      waiting.push_back({lane->commands(), POLLOUT, 0});
      waiting_lanes.push_back(lane);
    }
    if (waiting.empty()) return true;
    poll(waiting.data(), waiting.size(), kPollMilliseconds);
    if (interrupted()) return false;
    std::this_thread::sleep_for(kGather);
    for (size_t i = 0; i < waiting_lanes.size(); ++i) {
      if (waiting[2 * i + 1].revents != 0) waiting_lanes[i]->send();
      if (waiting[2 * i].revents != 0) waiting_lanes[i]->receive();
      waiting_lanes[i]->check_deadline();
    }
    if (std::chrono::steady_clock::now() < next_progress) continue;
    next_progress = std::chrono::steady_clock::now() + kBetweenProgress;
    std::vector<std::string> current;
    for (const Lane* lane : waiting_lanes) {
      if (std::string text = lane->current(); !text.empty()) current.push_back(std::move(text));
    }
    on_progress(current);
  }
}

}  // namespace opgate
