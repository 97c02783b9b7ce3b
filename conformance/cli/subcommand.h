// A subcommand of `opgate`: one file each beside this one, found by registration.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/registry.h"
#include "cli/command_line.h"

namespace opgate {

/// Exit statuses; an interrupted run has the shell's own 130.
enum Exit { kAllKept = 0, kPromiseBroken = 1, kUsageOrSetup = 2, kInterrupted = 130 };

struct Subcommand {
  std::string_view name;
  /// Declares options and returns what to run once they are parsed. Its result is the exit status; it may
  /// throw SetupError.
  std::function<int()> (*declare)(CommandLine& app);
};

}  // namespace opgate

#define OPGATE_REGISTER_SUBCOMMAND(identifier, ...)            \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Subcommand>::instance().add(__VA_ARGS__)
