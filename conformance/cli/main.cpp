// opgate: the command line.
#include <fmt/format.h>
#include <opgate/error.h>

#include "base/build.h"
#include "base/files.h"
#include "call/ctest_gpus.h"
#include "cli/subcommand.h"
#include "run/interrupt.h"

namespace opgate {
namespace {

int run_command(int argc, char** argv) {
  CLI::App app{
      "OpGate tells whether a PyTorch operator keeps every promise that PyTorch's subsystems rely on."};
  app.name("opgate");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("OpGate {} (torch {})", kVersion, kTorchVersion));
  app.add_flag_callback(
      "--cmake-prefix",
      [] {
        fmt::print("{}\n", this_executable().parent_path().parent_path().string());
        throw CLI::Success();
      },
      "Print the folder that CMAKE_PREFIX_PATH needs for find_package(OpGate)");
  app.footer(
      "Exit status: 0 all promises kept, 1 a promise broken, 2 wrong usage or set-up, 130 interrupted.");
  std::function<int()> chosen;
  for (const Subcommand& subcommand : Registry<Subcommand>::instance().parts()) {
    CLI::App* sub = app.add_subcommand(std::string(subcommand.name));
    sub->callback([&chosen, action = subcommand.declare(*sub)] { chosen = action; });
  }
  if (argc > 1 && argv[1][0] != '-' && Registry<Subcommand>::instance().find(argv[1]) == nullptr) {
    fmt::print(stderr, "opgate: there is no subcommand '{}'; see opgate --help\n", argv[1]);
    return kUsageOrSetup;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "opgate: {}; see opgate --help\n", error.what());
    return kUsageOrSetup;
  }
  try {
    take_ctest_gpus();
    return chosen();
  } catch (const SetupError& error) {
    fmt::print(stderr, "opgate: {}\n", error.what());
    return kUsageOrSetup;
  } catch (const Interrupted&) {
    fmt::print(stderr, "opgate: interrupted\n");
    return kInterrupted;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "opgate: {}\n", error.what());
    return kUsageOrSetup;
  } catch (const std::exception& error) {
    fmt::print(stderr, "opgate: internal error, please report it: {}\n", error.what());
    return kUsageOrSetup;
  }
}

}  // namespace
}  // namespace opgate

int main(int argc, char** argv) { return opgate::run_command(argc, argv); }
