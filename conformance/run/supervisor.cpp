#include "run/supervisor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <poll.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/build.h"
#include "call/device.h"
#include "run/interrupt.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::chrono::seconds kNativeLimit{30};
constexpr std::chrono::seconds kPythonLimit{180};
constexpr std::chrono::seconds kPackageLimit{900};
constexpr int kPollMilliseconds = 100;

// Where no package could be made, the cases that need it say why.
void note_failed_package(const fs::path& folder, const json& preparation, const std::string& reason) {
  if (!preparation.contains("package")) return;  // its run is made up for by the cases, one by one
  const std::string device = preparation.at("package").at("device");
  std::ofstream(folder / (device + ".json")) << json{{"error", reason}}.dump() << "\n";
}

// Why the call cannot run on this machine, if so.
std::optional<std::string> why_owed(const CallKey& key) {
  if (auto reason = missing_device(key.device)) return reason;
  if (key.device != c10::kCUDA || !key.spec->op) return std::nullopt;
  if (key.spec->op->hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) return std::nullopt;
  return fmt::format("{} has no CUDA kernel in the library that is loaded (was it built without nvcc?)",
                     key.spec->id);
}

}  // namespace

Programs this_program(const Config& config) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const char* chosen = std::getenv("OPGATE_PYTHON");
  Programs programs{program, chosen != nullptr && *chosen != '\0' ? chosen : kPython, config.python_path,
                    config.output};
  programs.python_path.insert(programs.python_path.begin(), program.parent_path().parent_path() / "python");
  return programs;
}

Supervisor::Supervisor(Programs programs, Setup setup)
    : programs_(std::move(programs)),
      setup_(std::move(setup)),
      native_(make_lane(Worker::native)),
      python_(make_lane(Worker::python)),
      aoti_(make_lane(Worker::aoti)) {
  watch_signals();
}

Lane Supervisor::make_lane(Worker kind) {
  Command command;
  if (kind == Worker::python) {
    std::vector<std::string> folders;
    for (const fs::path& folder : programs_.python_path) folders.push_back(folder.string());
    if (const char* present = std::getenv("PYTHONPATH")) folders.emplace_back(present);
    command.words = {programs_.python, "-m", "opgate"};
    command.environment["PYTHONPATH"] = fmt::format("{}", fmt::join(folders, ":"));
  } else {
    command.words = {programs_.opgate, "worker"};
  }
  // Without it a package that is given another shape or dtype answers wrongly and says nothing.
  command.environment.emplace("AOTI_RUNTIME_CHECK_INPUTS", "1");
  const fs::path log = programs_.logs / fmt::format("worker-{}.log", to_string(kind));
  return Lane(
      kind, {std::move(command), log, setup_},
      [this](const PlannedCall& call, const Check& check, const Judgement& judgement) {
        on_verdict_(call, check, judgement);
      },
      [this](const json& preparation, const std::string& reason) {
        note_failed_package(setup_.packages, preparation, reason);
      });
}

void Supervisor::start_python() {
  std::error_code failed;
  fs::create_directories(setup_.packages, failed);  // inside the folder of the logs
  if (failed) {
    throw SetupError(fmt::format("cannot write into {}: {}; give another folder with --output",
                                 programs_.logs.string(), failed.message()));
  }
  if (programs_.python.find('/') != std::string::npos && !fs::exists(programs_.python)) {
    throw SetupError(
        fmt::format("there is no Python interpreter {}; set OPGATE_PYTHON to one that has torch {}",
                    programs_.python, kTorchVersion));
  }
  for (const Worker kind : {Worker::native, Worker::python, Worker::aoti}) {
    fs::remove(programs_.logs / fmt::format("worker-{}.log", to_string(kind)), failed);
  }
  python_.start();
}

PythonHalf Supervisor::python_half() {
  const json said = python_.await_ready();
  try {
    PythonHalf half{{}, said.at("models"), said.at("torch")};
    for (const json& check : said.at("checks")) half.checks.push_back(check_from_json(check));
    return half;
  } catch (const json::exception& error) {
    throw SetupError(
        fmt::format("the Python half at {} is of another OpGate: {}", programs_.python, error.what()));
  }
}

void Supervisor::set_models(json models) {
  setup_.models = std::move(models);
  native_ = make_lane(Worker::native);
  aoti_ = make_lane(Worker::aoti);
}

bool Supervisor::run(const Plan& plan, const std::set<std::string>& done, const OnVerdict& on_verdict,
                     const OnProgress& on_progress) {
  on_verdict_ = on_verdict;
  distribute(plan, done);
  // The aoti worker runs what the Python worker packages.
  if (!serve({&native_, &python_}, on_progress)) return false;
  native_.dismiss();
  python_.dismiss();
  if (!serve({&aoti_}, on_progress)) return false;
  aoti_.dismiss();
  return true;
}

void Supervisor::distribute(const Plan& plan, const std::set<std::string>& done) {
  prepare_packages(plan, done);

  for (const PlannedCall& call : plan.calls) {
    const std::optional<std::string> owed = why_owed(call.key);
    std::map<Worker, std::vector<const Check*>> by_worker;
    for (const Check* check : call.checks) {
      if (done.contains(case_id(call, *check))) continue;
      if (owed) {
        on_verdict_(call, *check, Judgement::owed(*owed));
      } else {
        by_worker[check->worker].push_back(check);
      }
    }
    if (by_worker.contains(Worker::native))
      native_.add({&call, by_worker[Worker::native], {}, nullptr, kNativeLimit});
    if (by_worker.contains(Worker::python))
      python_.add({&call, by_worker[Worker::python], {}, nullptr, kPythonLimit});
    if (by_worker.contains(Worker::aoti))
      aoti_.add({&call, by_worker[Worker::aoti], {}, nullptr, kPythonLimit});
  }
}

void Supervisor::prepare_packages(const Plan& plan, const std::set<std::string>& done) {
  std::map<std::string, json> calls;
  for (const PlannedCall& call : plan.calls) {
    if (why_owed(call.key)) continue;
    for (const Check* check : call.checks) {
      if (!check->needs_package || done.contains(case_id(call, *check))) continue;
      calls[device_name(call.key.device)].push_back(call.id);
      break;
    }
  }
  for (const auto& [device, ids] : calls) {
    fs::remove(fs::path(setup_.packages) / (device + ".json"));
    python_.add(
        {nullptr, {}, json{{"package", {{"device", device}, {"calls", ids}}}}, nullptr, kPackageLimit});
    python_.add({nullptr, {}, json{{"run_package", {{"device", device}}}}, nullptr, kPythonLimit});
  }
}

bool Supervisor::serve(const std::vector<Lane*>& lanes, const OnProgress& on_progress) {
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Lane*> waiting_lanes;
    std::vector<std::string> current;
    for (Lane* lane : lanes) {
      if (lane->finished()) continue;
      lane->feed();
      waiting.push_back({lane->descriptor(), POLLIN, 0});
      waiting_lanes.push_back(lane);
      if (std::string text = lane->current(); !text.empty()) current.push_back(std::move(text));
    }
    if (waiting.empty()) return true;
    poll(waiting.data(), waiting.size(), kPollMilliseconds);
    if (interrupted()) return false;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) waiting_lanes[i]->receive();
      waiting_lanes[i]->check_deadline();
    }
    on_progress(current);
  }
}

}  // namespace opgate
