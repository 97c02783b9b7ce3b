// The interface by which subcommands declare their command line. Only command_line.cpp includes CLI11,
// because its templates take longer to compile than everything else in a file.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace opgate {

/// A declared option, flag or positional argument. Its methods set further properties and return it.
class CommandLineOption {
 public:
  explicit CommandLineOption(CLI::Option* option) : option_(option) {}

  CommandLineOption description(std::string text);
  CommandLineOption required();
  CommandLineOption one_of(std::vector<std::string> values);
  CommandLineOption between(int low, int high);
  CommandLineOption between(double low, double high);
  CommandLineOption existing_folder();
  CommandLineOption size();                     ///< a number of bytes, also as "6G"
  CommandLineOption delimiter(char character);  ///< what separates the values of a list given as one word
  CommandLineOption shows_default();
  CommandLineOption needs(CommandLineOption other);
  CommandLineOption excludes(CommandLineOption other);

 private:
  CLI::Option* option_;
};

/// The options of one subcommand. The variables that options are written to must live until it has run.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {}

  void description(std::string text);
  void footer(std::string text);
  void hidden();  ///< leaves the subcommand out of --help
  /// Everything after `--`, or from the first word that is no option of this subcommand and no value of one,
  /// is another program and its arguments, which are left as they are.
  void takes_program(std::vector<std::string>& program, bool is_required = true);

  /// `name` is as --help shows it: "-k,--keep FILE" with the placeholder for the value, or "FILE" for a
  /// positional argument. Defined for std::string, std::filesystem::path, int, size_t, int64_t, double, and
  /// vectors of the first three.
  template <class T>
  CommandLineOption add_option(const std::string& name, T& value, std::string description = "");
  CommandLineOption add_flag(std::string name, bool& value, std::string description);
  /// An option that was added before.
  CommandLineOption get_option(std::string name);

 private:
  friend std::variant<std::function<int()>, int> parse_command_line(int argc, char** argv);

  CLI::App& app_;
  std::vector<std::string>* program_ = nullptr;
};

/// Parses the command line. Returns the chosen subcommand as a function whose result is the exit status;
/// or, if there is nothing left to run (--help, --version, or wrong usage, which is reported on stderr),
/// the exit status.
std::variant<std::function<int()>, int> parse_command_line(int argc, char** argv);

}  // namespace opgate
