#include "run/python/python_half.h"

#include "base/build.h"
#include "base/errors.h"
#include "device/device.h"
#include "device/simulator.h"
#include "process/libraries/python_package.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// What was said by a worker that has the simulated device also holds why it has.
constexpr const char* kNeedOfDevice = "need_of_device";

std::unique_ptr<WorkerTemplate> process_of(const Programs& programs, const Setup& setup, PythonHalf& half) {
  WorkerProgram program = worker_program(programs, setup, Worker::python);
  program.on_ready = [&half](const json& said) { half.demand_same(said); };
  return std::make_unique<WorkerTemplate>(std::move(program));
}

}  // namespace

std::vector<std::string> python_check_ids() {
  std::vector<std::string> ids;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(python_package() / "checks", missing)) {
    std::string id = entry.path().stem();
    if (entry.path().extension() != ".py" || id.starts_with('_')) continue;
    if (const size_t end = id.find('_'); end != std::string::npos) id[end] = '.';
    ids.push_back(std::move(id));
  }
  return ids;
}

PythonHalf::PythonHalf(const Programs& programs, const Setup& setup)
    : programs_(programs),
      setup_(setup),
      cache_(worker_program(programs, setup, Worker::python).command, setup),
      process_(process_of(programs, setup, *this)) {}

void PythonHalf::start() {
  const std::string& interpreter = programs_.python;
  if (interpreter.find('/') != std::string::npos && !fs::exists(interpreter)) {
    throw setup_error("there is no Python interpreter {}; set OPGATE_PYTHON to one that has torch {}",
                      interpreter, kTorchVersion);
  }
  said_ = cache_.recall();
  if (!said_) {
    process_->start();
  } else if (said_->contains(kNeedOfDevice)) {
    use_simulated_device(said_->at(kNeedOfDevice));
    said_->erase(kNeedOfDevice);
  }
}

PythonCatalog PythonHalf::catalog() {
  const bool is_recalled = said_.has_value();
  if (!is_recalled) await_process();
  PythonCatalog catalog = python_catalog_from(*said_, programs_.python);
  if (!is_recalled) {
    json said = *said_;
    if (need_of_device_) said[kNeedOfDevice] = *need_of_device_;
    cache_.keep(said);
  }
  return catalog;
}

// Modules that are written for a GPU may look for one when they are imported.
void PythonHalf::await_process() {
  try {
    process_->await_ready();
  } catch (const SetupError& error) {
    if (setup_.modules.empty() || !missing_device(kSimulatedType) || missing_simulator()) throw;
    use_simulated_device(error.what());
    try {
      process_->start();
      process_->await_ready();
    } catch (const SetupError& simulated) {
      if (std::string(simulated.what()) == error.what()) throw;
      throw setup_error("{}; with the simulated device: {}", error.what(), simulated.what());
    }
  }
}

void PythonHalf::use_simulated_device(std::string why) {
  need_of_device_ = std::move(why);
  Setup setup = setup_;
  setup.modules_need_device = true;
  process_ = process_of(programs_, setup, *this);
}

void PythonHalf::demand_same(const json& said) {
  if (!said_) {
    said_ = said;
    return;
  }
  // What a worker read may differ.
  json before = *said_, now = said;
  for (const char* const read : {"files", "inputs"}) {
    before.erase(read);
    now.erase(read);
  }
  if (now == before) return;
  cache_.forget();
  throw SetupError(
      "Python now describes other operators, models or checks than when this run was planned: one of its "
      "files was changed, or a module depends on more than files of Python; run again");
}

}  // namespace opgate
