// The entry point of the program `opgate`.
#include <fmt/format.h>
#include <opgate/error.h>

#include <filesystem>

#include "cli/commands/subcommand.h"
#include "cli/terminal/command_line.h"
#include "device/ctest_gpus.h"
#include "process/interrupt.h"
#include "process/short_exit.h"

namespace opgate {
namespace {

int run_command(int argc, char** argv) {
  const auto asked = parse_command_line(argc, argv);
  if (const int* status = std::get_if<int>(&asked)) return *status;
  try {
    take_ctest_gpus();
    return std::get<std::function<int()>>(asked)();
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

int main(int argc, char** argv) {
  opgate::exit_before_torch();
  return opgate::run_command(argc, argv);
}
