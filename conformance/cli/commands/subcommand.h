// A subcommand of `opgate`. Each has a file of its own in this folder and registers itself.
#pragma once

#include <functional>
#include <string_view>

#include "base/registry.h"
#include "cli/terminal/command_line.h"
#include "cli/terminal/exit_status.h"

namespace opgate {

struct Subcommand {
  std::string_view name;
  /// Declares the options and returns the function to run once they are parsed. That function returns the
  /// exit status and may throw SetupError.
  std::function<int()> (*declare)(CommandLine& app);
};

}  // namespace opgate

#define OPGATE_REGISTER_SUBCOMMAND(identifier, ...)            \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Subcommand>::instance().add(__VA_ARGS__)
