// The command line as subcommands declare it. Only command_line.cpp includes CLI11, whose templates cost a
// file more seconds of compilation than everything else in it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace opgate {

/// An option, flag or positional argument that was declared; its methods say more of it.
class CommandLineOption {
 public:
  explicit CommandLineOption(CLI::Option* option) : option_(option) {}

  CommandLineOption description(std::string text);
  CommandLineOption type_name(std::string name);  ///< of its value in --help, such as FILE
  CommandLineOption required();
  CommandLineOption one_of(std::vector<std::string> values);
  CommandLineOption between(int low, int high);
  CommandLineOption between(double low, double high);
  CommandLineOption existing_folder();
  CommandLineOption delimiter(char character);  ///< between the values of a list that is one word
  CommandLineOption shows_default();
  CommandLineOption needs(CommandLineOption other);
  CommandLineOption excludes(CommandLineOption other);

 private:
  CLI::Option* option_;
};

/// The options of one subcommand. What they are written to must live until the subcommand has run.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  void description(std::string text);
  void footer(std::string text);
  void hidden();  ///< not in --help
  /// What follows the last option belongs to another program, options too.
  void prefix_command();

  /// `name` as CLI11 takes it: "--output", or "FILE" for a positional argument. Defined for std::string,
  /// std::filesystem::path, int, size_t, int64_t, double, and vectors of the first three.
  template <class T>
  CommandLineOption add_option(std::string name, T& value, std::string description = "");
  CommandLineOption add_flag(std::string name, bool& value, std::string description);
  /// One that was added before.
  CommandLineOption get_option(std::string name);

 private:
  CLI::App& app_;
};

/// What the words ask for: a subcommand, ready to run, whose result is the exit status; or the exit status
/// where they are answered already (--help, --version, wrong usage, which is said on stderr).
std::variant<std::function<int()>, int> parse_command_line(int argc, char** argv);

}  // namespace opgate
