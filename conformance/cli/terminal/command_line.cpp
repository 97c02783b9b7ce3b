#include "cli/terminal/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/build.h"
#include "base/files/files.h"
#include "cli/commands/subcommand.h"

namespace opgate {

CommandLineOption CommandLineOption::description(std::string text) {
  return CommandLineOption(option_->description(std::move(text)));
}
CommandLineOption CommandLineOption::required() { return CommandLineOption(option_->required()); }
CommandLineOption CommandLineOption::one_of(std::vector<std::string> values) {
  return CommandLineOption(option_->check(CLI::IsMember(std::move(values))));
}
CommandLineOption CommandLineOption::between(int low, int high) {
  return CommandLineOption(option_->check(CLI::Range(low, high)));
}
CommandLineOption CommandLineOption::between(double low, double high) {
  return CommandLineOption(option_->check(CLI::Range(low, high)));
}
CommandLineOption CommandLineOption::existing_folder() {
  return CommandLineOption(option_->check(CLI::ExistingDirectory));
}
CommandLineOption CommandLineOption::size() {
  return CommandLineOption(option_->transform(CLI::AsSizeValue(/*kb_is_1000=*/false)));
}
CommandLineOption CommandLineOption::delimiter(char character) {
  return CommandLineOption(option_->delimiter(character));
}
CommandLineOption CommandLineOption::shows_default() {
  option_->capture_default_str();
  return *this;
}

CommandLineOption CommandLineOption::needs(CommandLineOption other) {
  return CommandLineOption(option_->needs(other.option_));
}
CommandLineOption CommandLineOption::excludes(CommandLineOption other) {
  return CommandLineOption(option_->excludes(other.option_));
}

void CommandLine::description(std::string text) { app_.description(std::move(text)); }

void CommandLine::footer(std::string text) { app_.footer(std::move(text)); }

void CommandLine::hidden() { app_.group(""); }

void CommandLine::takes_program(std::vector<std::string>& program, bool is_required) {
  app_.add_option("PROGRAM", program, "the program and its arguments; options of opgate stand before it")
      ->required(is_required);
  program_ = &program;
}

template <class T>
CommandLineOption CommandLine::add_option(const std::string& name, T& value, std::string description) {
  const size_t end = std::min(name.find(' '), name.size());
  CLI::Option* option = app_.add_option(name.substr(0, end), value, std::move(description));
  if (end < name.size()) option->type_name(name.substr(end + 1));
  return CommandLineOption(option);
}

template CommandLineOption CommandLine::add_option(const std::string&, std::string&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, std::filesystem::path&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, int&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, size_t&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, int64_t&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, double&, std::string);
template CommandLineOption CommandLine::add_option(const std::string&, std::vector<std::string>&,
                                                   std::string);
template CommandLineOption CommandLine::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                                   std::string);
template CommandLineOption CommandLine::add_option(const std::string&, std::vector<int>&, std::string);

CommandLineOption CommandLine::add_flag(std::string name, bool& value, std::string description) {
  return CommandLineOption(app_.add_flag(std::move(name), value, std::move(description)));
}

CommandLineOption CommandLine::get_option(std::string name) {
  return CommandLineOption(app_.get_option(std::move(name)));
}

namespace {

constexpr size_t kShortOption = 2;  // the length of "-t"

// Where another program begins in a command line of `subcommand`: after `--`, otherwise at the first word
// that is neither an option nor its value. An option that may have several values has them all if `--` or
// another option follows, and otherwise one. The number of words if there is no program. Throws
// CLI::ExtrasError for an option that the subcommand does not have.
ptrdiff_t program_position(const CLI::App& subcommand, const std::vector<std::string>& words) {
  size_t at = 2;
  while (at < words.size() && words[at].starts_with('-')) {
    if (words[at] == "--") return static_cast<ptrdiff_t>(at + 1);
    const std::string& word = words[at];
    const size_t end = word.starts_with("--") ? word.find('=') : kShortOption;  // of the option's name
    const CLI::Option* option = subcommand.get_option_no_throw(word.substr(0, end));
    if (option == nullptr) throw CLI::ExtrasError({word});
    ++at;
    if (option->get_items_expected_max() == 0 || end < word.size()) continue;  // no value, or "--seed=1"
    size_t next = at;
    while (next < words.size() && !words[next].starts_with('-')) ++next;
    const bool takes_all = option->get_items_expected_max() > 1 && next < words.size() &&
                           (words[next] == "--" || subcommand.get_option_no_throw(words[next]) != nullptr);
    at = takes_all ? next : at + 1;
  }
  return static_cast<ptrdiff_t>(std::min(at, words.size()));
}

}  // namespace

std::variant<std::function<int()>, int> parse_command_line(int argc, char** argv) {
  CLI::App app{
      "OpGate checks whether a PyTorch operator keeps every promise that PyTorch's subsystems rely on."};
  app.name("opgate");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("OpGate {} (torch {})", kVersion, kTorchVersion));
  app.add_flag_callback(
      "--cmake-prefix",
      [] {
        fmt::print("{}\n", this_executable().parent_path().parent_path().string());
        throw CLI::Success();
      },
      "print the folder that CMAKE_PREFIX_PATH needs for find_package(OpGate)");
  app.footer(
      "An installed OpGate has `opgate engine`, too: engines for further versions of torch.\n"
      "Exit status: 0 all promises kept, 1 a promise broken, 2 wrong usage or set-up, 130 interrupted.");
  std::function<int()> chosen;
  std::map<std::string, std::vector<std::string>*> programs;
  for (const Subcommand& subcommand : Registry<Subcommand>::instance().parts()) {
    CLI::App* sub = app.add_subcommand(std::string(subcommand.name));
    CommandLine line(*sub);
    sub->callback([&chosen, action = subcommand.declare(line)] { chosen = action; });
    if (line.program_ != nullptr) programs[std::string(subcommand.name)] = line.program_;
  }
  if (argc > 1 && argv[1][0] != '-' && Registry<Subcommand>::instance().find(argv[1]) == nullptr) {
    fmt::print(stderr, "opgate: there is no subcommand '{}'; see opgate --help\n", argv[1]);
    return kUsageOrSetup;
  }
  const std::vector<std::string> words(argv, argv + argc);
  try {
    if (argc > 1 && programs.contains(argv[1])) {
      // CLI11 would take options of the program for its own, and `[1,2]` for two words.
      const auto program = words.begin() + program_position(*app.get_subcommand(argv[1]), words);
      std::vector<std::string> own(words.begin() + 1, program);
      if (program != words.end()) own.insert(own.end(), {"--", "PROGRAM"});
      std::ranges::reverse(own);  // as CLI11 expects it
      app.parse(std::move(own));
      if (program != words.end()) programs.at(argv[1])->assign(program, words.end());
    } else {
      app.parse(argc, argv);
    }
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "opgate: {}; see opgate --help\n", error.what());
    return kUsageOrSetup;
  }
  return chosen;
}

}  // namespace opgate
