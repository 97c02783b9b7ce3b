// Compares the simulator with a card, instruction by instruction: both execute the same PTX on the same
// values.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "card/comparisons.h"

namespace opgate::card {
namespace {

struct Options {
  std::string output;
  std::string only;
  std::string planted;
  std::string recorded;
  std::string behind;
  bool stand_in = false;
  bool list = false;
  unsigned part = 1;
  unsigned parts = 1;
  unsigned programs = 0;
  bool no_instructions = false;
  bool no_matrices = false;
  bool no_kernels = false;
};

// The comparison after which this process is of no use.
struct LostBehind {
  std::string text;
};

class Comparison {
 public:
  Comparison(const Options& options, const Sides& sides, std::ostream& output)
      : options_(options), sides_(sides), output_(output) {}

  int run() {
    if (options_.behind.empty())
      write({{"kind", "sides"}, {"simulator", sides_.simulator.name()}, {"card", sides_.card.name()}});
    if (!options_.no_instructions) {
      for (const Form& form : all_forms()) {
        compare(form.text, "instruction", form.group, [&] { return compare_form(sides_, form); });
      }
    }
    if (!options_.no_matrices) {
      for (const MatrixForm& form : all_matrix_forms()) {
        for (const Numbers numbers : {Numbers::integers, Numbers::any, Numbers::special}) {
          compare(text_of(form, numbers), "matrices", "",
                  [&] { return compare_matrices(sides_, form, numbers); });
        }
      }
    }
    if (!options_.no_kernels) {
      for (const KernelForm& form : all_kernel_forms()) {
        compare(form.text, "kernel", form.group, [&] { return compare_kernel(sides_, form); });
      }
    }
    for (unsigned seed = 1; seed <= options_.programs; ++seed) {
      compare(text_of_program(seed), "program", "", [&] { return compare_program(sides_, seed); });
    }
    write({{"kind", "end"}, {"part", options_.part}, {"parts", options_.parts}, {"compared", written_ - 1}});
    return differing_ == 0 ? 0 : 1;
  }

 private:
  bool wanted(const std::string& text) {
    if (text.find(options_.only) == std::string::npos) return false;
    return ++asked_ % options_.parts == options_.part % options_.parts;
  }

  template <class Compare>
  void compare(const std::string& text, const char* kind, const std::string& group, Compare compare) {
    if (!wanted(text)) return;
    if (!begun_) {
      begun_ = text == options_.behind;
      return;
    }
    try {
      write(compare());
    } catch (const LostSide& lost) {
      nlohmann::json line{{"kind", kind}, {"text", text}, {"card_failed", lost.what()}};
      if (!group.empty()) line["group"] = group;
      write(line);
      throw LostBehind{text};
    }
  }

  // Each line is written at once, so that a process that is stopped has lost nothing.
  void write(const nlohmann::json& line) {
    output_ << line.dump() << std::endl;
    ++written_;
    if (line.contains("simulator_failed") || line.contains("card_failed") || line.value("differing", 0) != 0)
      ++differing_;
  }

  const Options& options_;
  const Sides& sides_;
  std::ostream& output_;
  bool begun_ = options_.behind.empty();
  unsigned asked_ = 0;
  unsigned written_ = 0;
  unsigned differing_ = options_.behind.empty() ? 0 : 1;  // the kernel after which it goes on has failed
};

// "DIGEST TEXT" in each line; lines that begin with # say where it comes from.
Recorded read_recorded(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw std::runtime_error(name + " cannot be read");
  Recorded recorded;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (!line.starts_with('#') && space != std::string::npos)
      recorded[line.substr(space + 1)] = line.substr(0, space);
  }
  return recorded;
}

// Compares the simulator with what a card gave earlier. Prints what differs, and fails if something was not
// compared.
int compare_with_recorded(const Options& options) {
  const Recorded recorded = read_recorded(options.recorded);
  const std::unique_ptr<Side> simulator = simulated_side();
  std::size_t compared = 0;
  std::size_t differing = 0;
  const auto count = [&](const nlohmann::json& line) {
    if (line.is_null()) return;
    ++compared;
    if (line["differing"] == 0) return;
    ++differing;
    std::cout << line.dump() << std::endl;
  };
  for (const Form& form : all_forms()) count(compare_form_with(recorded, *simulator, form));
  for (const MatrixForm& form : all_matrix_forms()) {
    for (const Numbers numbers : {Numbers::integers, Numbers::any, Numbers::special})
      count(compare_matrices_with(recorded, *simulator, form, numbers));
  }
  for (const KernelForm& form : all_kernel_forms()) count(compare_kernel_with(recorded, *simulator, form));
  for (unsigned seed = 1; seed <= options.programs; ++seed)
    count(compare_program_with(recorded, *simulator, seed));
  std::cout << compared << " of " << recorded.size() << " compared, " << differing << " differ" << std::endl;
  return differing == 0 && compared == recorded.size() ? 0 : 1;
}

// Becomes a new process that goes on after the kernel that failed.
[[noreturn]] void go_on(const std::vector<std::string>& arguments, const LostBehind& lost) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--behind")
      ++i;
    else
      words.push_back(arguments[i]);
  }
  words.insert(words.end(), {"--behind", lost.text});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());
  throw std::runtime_error("it cannot start itself again");
}

void print_modules(unsigned programs) {
  for (const Form& form : all_forms())
    std::cout << "// " << form.text << "\n" << kernel_of_form(form) << "\f\n";
  for (const MatrixForm& form : all_matrix_forms())
    std::cout << "// " << form.opcode << "\n" << work_of(form, Numbers::integers).ptx << "\f\n";
  for (const KernelForm& form : all_kernel_forms())
    std::cout << "// " << form.text << "\n" << form.work().ptx << "\f\n";
  for (unsigned seed = 1; seed <= programs; ++seed)
    std::cout << "// program " << seed << "\n" << program_of(seed).text() << "\f\n";
}

int run(const Options& options) {
  if (options.list) {
    print_modules(options.programs);
    return 0;
  }
  if (!options.recorded.empty()) return compare_with_recorded(options);
  std::ofstream file;
  if (!options.output.empty()) {
    file.open(options.output, options.behind.empty() ? std::ios::trunc : std::ios::app);
    if (!file) throw std::runtime_error(options.output + " cannot be written");
  }
  const std::unique_ptr<Side> simulator = simulated_side();
  const std::unique_ptr<Side> card = options.stand_in ? stand_in_side(options.planted) : card_side();
  const Sides sides{*simulator, *card};
  return Comparison(options, sides, options.output.empty() ? std::cout : file).run();
}

}  // namespace
}  // namespace opgate::card

int main(int argc, char** argv) {
  opgate::card::Options options;
  CLI::App app("Compares the simulator with a card: both execute the same PTX on the same values.");
  app.add_option("-o,--output", options.output,
                 "file for the results, a line of JSON each; standard output by default");
  app.add_option("--only", options.only, "only instructions whose text contains this, such as 'add.rn'");
  app.add_option("--behind", options.behind,
                 "goes on behind the instruction with this text, and adds to the file of results");
  app.add_option("--recorded", options.recorded,
                 "digests of what a card gave earlier: compare the simulator with them");
  app.add_flag("--stand-in", options.stand_in, "the simulator takes the place of the card");
  app.add_option("--plant", options.planted, "OLD=NEW: a difference, made in the PTX of the stand-in")
      ->needs("--stand-in");
  app.add_option("--part", options.part, "which part of the comparisons, from 1");
  app.add_option("--parts", options.parts, "of how many")->check(CLI::PositiveNumber);
  app.add_option("--programs", options.programs, "how many programs of random instructions");
  app.add_flag("--no-instructions", options.no_instructions, "without single instructions");
  app.add_flag("--no-matrices", options.no_matrices, "without products of matrices");
  app.add_flag("--no-kernels", options.no_kernels, "without products of warpgroups and asynchronous values");
  app.add_flag("--list", options.list, "prints the PTX, with a form feed behind each module, and ends");
  app.footer("exit status: 0 all equal, 1 something differs, 2 wrong usage or no card");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return opgate::card::run(options);
  } catch (const opgate::card::LostBehind& lost) {
    opgate::card::go_on({argv, argv + argc}, lost);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "opgate_card: %s\n", error.what());
    return 2;
  }
}
