// Runs a plan: hands each case to the kind of worker that can judge it and gives every case a verdict.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "run/lane.h"

namespace opgate {

/// How workers are started; the native and the aoti worker are the program itself.
struct Programs {
  std::filesystem::path opgate;
  std::string python;  ///< the interpreter
  std::vector<std::filesystem::path> python_path;
  std::filesystem::path logs;  ///< folder
};

/// The program that is running, the interpreter it was built for (OPGATE_PYTHON overrides), and its Python
/// packages.
Programs this_program(const Config& config);

/// What the Python half says of itself.
struct PythonHalf {
  std::vector<Check> checks;
  nlohmann::json models;
  std::string torch;  ///< version
};

class Supervisor {
 public:
  using OnVerdict = Lane::OnVerdict;
  /// Called often while it runs, with what the workers are at.
  using OnProgress = std::function<void(const std::vector<std::string>& current)>;

  Supervisor(Programs programs, Setup setup);

  /// Starts the Python worker without waiting for it.
  void start_python();

  /// Waits for it and hears which checks and models there are. Throws SetupError where it cannot start.
  PythonHalf python_half();

  /// The models that every worker shall know; before run().
  void set_models(nlohmann::json models);

  /// Gives each planned case that is not in `done` a verdict. False where it was interrupted (SIGINT,
  /// SIGTERM).
  bool run(const Plan& plan, const std::set<std::string>& done, const OnVerdict& on_verdict,
           const OnProgress& on_progress);

 private:
  void distribute(const Plan& plan, const std::set<std::string>& done);
  void prepare_packages(const Plan& plan, const std::set<std::string>& done);
  bool serve(const std::vector<Lane*>& lanes, const OnProgress& on_progress);
  Lane make_lane(Worker kind);

  Programs programs_;
  Setup setup_;
  OnVerdict on_verdict_;
  Lane native_;
  Lane python_;
  Lane aoti_;
};

}  // namespace opgate
