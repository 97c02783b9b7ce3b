// opgate aoti PACKAGE --library LIB: runs one package in this process, without Python, and says whether its
// outputs agree with eager.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/build.h"
#include "base/errors.h"
#include "base/text.h"
#include "cli/commands/subcommand.h"
#include "cli/terminal/terminal.h"
#include "judging/calls/call_under_test.h"
#include "judging/comparison/compiled_agreement.h"
#include "judging/comparison/output_judgement.h"
#include "packages/package.h"
#include "plan/case_parts.h"
#include "process/libraries/native_libraries.h"
#include "run/python/programs.h"
#include "spec/spec.h"

namespace opgate::aoti {
namespace {

using nlohmann::json;

struct AotiOptions {
  std::string file;
  std::vector<std::string> libraries;
  std::filesystem::path json;
  bool any_schema = false;
};

// What one call of a package returned, and whether that agrees with eager.
struct Answer {
  const PackagedCall& call;
  std::string digest;
  std::string differs;  // how it differs from eager C++; empty for a model, which has no eager form in C++
  bool as_made = true;  // it equals what eager Python returned when the package was made

  bool is_op() const { return call.spec->kind == Spec::Kind::op; }
  bool agrees() const { return differs.empty() && as_made; }
};

Answer answer_of(const Package& package, const PackagedCall& call, const std::vector<at::Tensor>& outputs,
                 WorkerCache& cache) {
  Answer answer{call, digest(outputs), "", true};
  // The code that a compiler generates for the pieces of an operator or a model rounds in its own way.
  const auto judge = [&](const std::vector<at::Tensor>& eager) {
    const auto agreement = call.in_pieces ? agreement_of_compiled(package.key(call), eager) : Agreement();
    return judge_values(outputs, eager, agreement);
  };
  answer.as_made =
      answer.digest == call.eager ||
      (answer.is_op() ? call.in_pieces : !call.eager_results.empty() && !judge(call.eager_results).finding);
  if (!answer.is_op()) return answer;
  CallUnderTest under_test(package.key(call), cache);
  const Outcome& eager = under_test.observed().outcome;
  if (!eager.ok()) {
    answer.differs = "eager raises: " + eager.raised->message;
  } else if (const Judgement same = judge(eager.returned()); same.finding) {
    answer.differs = "package and eager C++ differ: " + same.finding->happened;
  }
  return answer;
}

// The id of the operator or model is the first part of the ids of its calls.
std::string id_of(const PackagedCall& call) { return std::string(parts_of_call(call.id).op); }

// Writes the answers for other programs: one line of JSON for each, the last of them {"finished": true}.
// They have a file of their own because operators may print on stdout. Without a file, nothing is written.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& file) {
    if (file.empty()) return;
    stream_.open(file, std::ios::trunc);
    if (!stream_) throw setup_error("cannot write {}", file.string());
  }

  void add(const json& line) {
    if (stream_.is_open()) stream_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }

 private:
  std::ofstream stream_;
};

void say(const Answer& answer, Lines& lines) {
  lines.add({{"call", answer.call.id},
             {"op", id_of(answer.call)},
             {"kind", answer.is_op() ? "op" : "model"},
             {"digest", answer.digest},
             {"differs", answer.differs},
             {"as_made", answer.as_made}});
  std::string text = answer.differs;
  if (text.empty() && !answer.as_made)
    text = "package and eager Python differ: the values are not those that eager Python returned";
  if (text.empty()) text = answer.is_op() ? "equals eager C++ and eager Python" : "equals eager Python";
  fmt::print("{} {}  {}\n",
             coloured(answer.agrees() ? Colour::green : Colour::red, answer.agrees() ? "ok  " : "FAIL"),
             answer.call.id, text);
}

void say_problem(const std::string& what, Lines& lines) {
  lines.add({{"problem", what}});
  fmt::print("{} {}\n", coloured(Colour::red, "FAIL"), what);
}

// Returns true if the operators still have the schemas that the package was compiled for.
bool say_changes(const Package& package, Lines& lines) {
  const std::vector<SchemaChange> changes = package.changed_schemas();
  for (const SchemaChange& change : changes)
    say_problem("another library version: " + change.in_words(), lines);
  if (!changes.empty()) {
    fmt::print(
        "not run: the package would pass the arguments of the old schema. Compile it again with this "
        "library, or run it all the same with --any-schema.\n");
  }
  return changes.empty();
}

int run_package(Package& package, const AotiOptions& options, Lines& lines) {
  fmt::print("{}: {} calls, made for {} with torch {}, run here by torch {} without Python\n", options.file,
             package.calls().size(), device_name(package.device()), package.torch_version(), kTorchVersion);
  if (!options.any_schema && !say_changes(package, lines)) return kPromiseBroken;
  size_t differing = 0;
  try {
    const auto& outputs = package.run();
    WorkerCache cache;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Answer answer = answer_of(package, package.calls()[i], outputs[i], cache);
      if (!answer.agrees()) ++differing;
      say(answer, lines);
    }
  } catch (const SetupError&) {
    throw;
  } catch (const std::exception& error) {  // whatever the generated code raises is its answer
    say_problem(fmt::format("the package raises: {}", first_line(error.what())), lines);
    return kPromiseBroken;
  }
  fmt::print("{} of {} calls agree\n", package.calls().size() - differing, package.calls().size());
  return differing == 0 ? kAllKept : kPromiseBroken;
}

int aoti(const AotiOptions& options) {
  load_libraries(options.libraries, python_interpreter(), /*modules_may_load=*/false);
  Lines lines(options.json);
  try {
    Package package(options.file);
    const int status = run_package(package, options, lines);
    lines.add({{"finished", true}});
    return status;
  } catch (const DeviceMissing& error) {
    lines.add({{"owed", error.what()}});
    lines.add({{"finished", true}});
    throw;
  }
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run an AOTInductor package made by OpGate without Python and say whether it agrees with eager");
  auto options = std::make_shared<AotiOptions>();
  app.add_option("PACKAGE", options->file, "the .pt2 file").required();
  app.add_option("--library FILE", options->libraries, "operator library to load first; may be repeated");
  app.add_flag("--any-schema", options->any_schema,
               "run the package even if the schemas of its operators have changed");
  app.add_option("--json FILE", options->json, "file for the answers, one line of JSON for each call");
  return [=] { return aoti(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(aoti, {"aoti", &declare});

}  // namespace
}  // namespace opgate::aoti
