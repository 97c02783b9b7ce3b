// The Python half of OpGate: what it describes, and the process from which its workers are forked.
#pragma once

#include <nlohmann/json.hpp>

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

  /// Waits for the Python worker, where one was started, and returns its checks and models. Throws SetupError
  /// where the worker cannot start.
  PythonCatalog catalog();

  /// Compares what a worker says when it is ready with the catalog. Throws SetupError if they differ, because
  /// every worker plans with the catalog.
  void demand_same(const nlohmann::json& said);

  /// Lets the next run ask Python again, whatever has changed.
  void forget() const { cache_.forget(); }

  /// The process that Python workers are forked from, for calls on other than simulated devices.
  WorkerTemplate& process() { return process_; }

 private:
  const std::string interpreter_;
  const PythonCatalogCache cache_;
  std::optional<nlohmann::json> said_;  // by the first process, or a cached one
  WorkerTemplate process_;
};

}  // namespace opgate
