// opgate aoti PACKAGE --library LIB: runs a package by hand, in this process without Python, and says whether
// it agrees.
#include <fmt/format.h>

#include "base/build.h"
#include "call/evidence.h"
#include "checks/outputs.h"
#include "cli/subcommand.h"
#include "cli/terminal.h"
#include "paths/package.h"
#include "plan/config.h"

namespace opgate {
namespace {

struct Agreement {
  bool agrees;
  std::string text;
};

// Against eager in this process where the subject is an operator, and against what eager Python returned.
Agreement agreement(const Package& package, const PackagedCall& call, const std::vector<at::Tensor>& outputs,
                    Workbench& bench) {
  if (call.spec.kind == Spec::Kind::op) {
    Evidence evidence(package.key(call), bench);
    const Outcome& eager = evidence.observed().outcome;
    if (!eager.ok()) return {false, "eager raises: " + eager.raised->message};
    const Judgement same = judge_values(outputs, eager.returned(), {});
    if (same.finding) return {false, "package and eager C++ differ: " + same.finding->happened};
  }
  if (digest(outputs) != call.eager)
    return {false, "package and eager Python differ: not the bits that it returned"};
  return {true,
          call.spec.kind == Spec::Kind::op ? "equals eager C++ and eager Python" : "equals eager Python"};
}

int aoti(const std::string& file, const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) load_library(library);
  Package package(file);
  fmt::print("{}: {} calls, made for {} with torch {}, run here by torch {} without Python\n", file,
             package.calls().size(), device_name(package.device()), package.torch_version(), kTorchVersion);
  const std::vector<std::string> changes = package.changed_schemas();
  for (const std::string& change : changes)
    fmt::print("{} another library version: {}\n", coloured(Colour::red, "FAIL"), change);
  if (!changes.empty()) {
    fmt::print(
        "not run: the package would pass the arguments of the old schema. Compile it again with this "
        "library.\n");
    return kPromiseBroken;
  }
  size_t differing = 0;
  try {
    const auto& outputs = package.run();
    Workbench bench;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Agreement result = agreement(package, package.calls()[i], outputs[i], bench);
      if (!result.agrees) ++differing;
      fmt::print("{} {}  {}\n",
                 coloured(result.agrees ? Colour::green : Colour::red, result.agrees ? "ok  " : "FAIL"),
                 package.calls()[i].id, result.text);
    }
  } catch (const SetupError&) {
    throw;
  } catch (const std::exception& error) {  // whatever the generated code raises is the package's answer
    fmt::print("{} the package raises: {}\n", coloured(Colour::red, "FAIL"), error.what());
    return kPromiseBroken;
  }
  fmt::print("{} of {} calls agree\n", package.calls().size() - differing, package.calls().size());
  return differing == 0 ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CLI::App& app) {
  app.description(
      "Run an AOTInductor package made by OpGate, without Python, and say whether it agrees with eager");
  auto file = std::make_shared<std::string>();
  auto libraries = std::make_shared<std::vector<std::string>>();
  app.add_option("PACKAGE", *file, "the .pt2 file")->required();
  app.add_option("--library", *libraries, "operator library to load first; may be repeated")
      ->type_name("FILE");
  return [=] { return aoti(*file, *libraries); };
}

OPGATE_REGISTER_SUBCOMMAND(aoti, {"aoti", &declare});

}  // namespace
}  // namespace opgate
