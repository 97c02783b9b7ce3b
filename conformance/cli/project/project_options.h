// Options that most subcommands have: the configuration, and which of its cases are chosen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal/command_line.h"
#include "plan/config.h"
#include "plan/filter.h"

namespace opgate {

/// Options that choose the configuration.
struct ProjectOptions {
  std::filesystem::path config;
  std::filesystem::path output;
  std::filesystem::path build;
  std::filesystem::path samples;  ///< file of samples instead of the specs'; only `opgate run` declares it
  bool keep_outputs = false;      ///< results of contiguous calls are kept in the folder outputs/

  void declare(CommandLine& app);
  /// Reads the configuration that the options choose. Throws SetupError.
  Config read() const;
  /// The same options for another command line: " --config 'my.toml'", or nothing.
  std::string again() const;
};

/// Declares the options that choose cases.
void declare_filter(CommandLine& app, Filter& filter);

/// Declares --device.
void declare_devices(CommandLine& app, std::vector<std::string>& devices);

/// Declares --no-sim.
void declare_no_simulator(CommandLine& app, bool& no_simulator);

/// Decides whether the calls on CUDA are planned on the simulated device as well: where there is no GPU and
/// `no_simulator` is false, or where the filter asks for the device `sim`. Throws SetupError if it does
/// and there is none.
void choose_simulator(Filter& filter, bool no_simulator);

/// Declares --order.
void declare_order(CommandLine& app, Filter& filter);

}  // namespace opgate
