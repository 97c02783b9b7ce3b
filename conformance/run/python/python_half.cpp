#include "run/python/python_half.h"

#include "base/build.h"
#include "base/errors.h"
#include "process/libraries/python_package.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

WorkerProgram program_of(const Programs& programs, const Setup& setup, PythonHalf& half) {
  WorkerProgram program = worker_program(programs, setup, Worker::python);
  program.on_ready = [&half](const json& said) { half.demand_same(said); };
  return program;
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
    : interpreter_(programs.python),
      cache_(worker_program(programs, setup, Worker::python).command, setup),
      process_(program_of(programs, setup, *this)) {}

void PythonHalf::start() {
  if (interpreter_.find('/') != std::string::npos && !fs::exists(interpreter_)) {
    throw setup_error("there is no Python interpreter {}; set OPGATE_PYTHON to one that has torch {}",
                      interpreter_, kTorchVersion);
  }
  said_ = cache_.recall();
  if (!said_) process_.start();
}

PythonCatalog PythonHalf::catalog() {
  const bool is_recalled = said_.has_value();
  if (!is_recalled) process_.await_ready();
  PythonCatalog catalog = python_catalog_from(*said_, interpreter_);
  if (!is_recalled) cache_.keep(*said_);
  return catalog;
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
