// The Python half of OpGate: what it describes, and the process from which its workers are forked.
#pragma once

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/python/programs.h"
#include "run/python/python_catalog.h"
#include "run/worker/worker_template.h"

namespace opgate {

/// The checks of OpGate's own Python half, derived from their file names without starting Python.
std::vector<std::string> python_check_ids();

class PythonHalf {
 public:
  /// Starts nothing yet.
  PythonHalf(const Programs& programs, const Setup& setup);
  PythonHalf(const PythonHalf&) = delete;
  PythonHalf& operator=(const PythonHalf&) = delete;

  /// Starts a Python worker, without waiting for it, unless the cached catalog is still valid. Throws
  /// SetupError where there is no interpreter.
  void start();

  /// Waits for the Python worker, where one was started, and returns its checks and models. If it cannot
  /// start on a machine without a GPU, one with the simulated device is tried. Throws SetupError where no
  /// worker can start.
  PythonCatalog catalog();

  /// Why the project's modules cannot be imported without the simulated device; none if they can.
  const std::optional<std::string>& need_of_device() const { return need_of_device_; }

  /// Compares what a worker says when it is ready with the catalog. Throws SetupError if they differ, because
  /// every worker plans with the catalog.
  void demand_same(const nlohmann::json& said);

  /// Lets the next run ask Python again, whatever has changed.
  void forget() const { cache_.forget(); }

  /// The process that Python workers are forked from, for calls on other than simulated devices.
  WorkerTemplate& process() { return *process_; }

 private:
  void await_process();
  void use_simulated_device(std::string why);

  const Programs programs_;
  const Setup setup_;
  const PythonCatalogCache cache_;
  std::optional<nlohmann::json> said_;  // by the first process, or a cached one
  std::optional<std::string> need_of_device_;
  std::unique_ptr<WorkerTemplate> process_;
};

}  // namespace opgate
