#include "packages/concurrent_runs.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "compare/agreement.h"
#include "packages/package.h"
#include "process/concurrently.h"

namespace opgate {
namespace {

constexpr size_t kCallers = 4;
constexpr size_t kRunsEach = 4;

struct Caller {
  MaterializeOptions options{.take_snapshots = false};
  Package::Tensors alone;  // the outputs for its values when no other thread runs
  std::vector<Package::Tensors> inputs;
  std::vector<Package::Tensors> outputs;
  std::string raised;
};

// Each caller has other values, so that a result which another caller's run has overwritten is noticed.
std::vector<Caller> make_callers(Package& package) {
  std::vector<Caller> callers(kCallers);
  for (size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = callers[i];
    caller.options.value_seed = i;
    try {
      caller.alone = package.run(package.inputs(caller.options));
    } catch (const std::exception&) {  // an operator may refuse other values than the sample's
      caller.options.value_seed = 0;
      caller.alone = package.run(package.inputs(caller.options));
    }
    for (size_t run = 0; run < kRunsEach; ++run) caller.inputs.push_back(package.inputs(caller.options));
  }
  return callers;
}

void run_all(Package& package, std::vector<Caller>& callers) {
  run_concurrently(callers.size(), kRunsEach, [&](size_t index, size_t run) {
    Caller& caller = callers[index];
    try {
      caller.outputs.push_back(package.run(caller.inputs[run]));
      return true;
    } catch (const std::exception& error) {  // the generated code may raise anything
      caller.raised = first_line(error.what());
      return false;
    }
  });
}

}  // namespace

std::map<std::string, std::string> run_at_once(const std::filesystem::path& file) {
  Package package(file, kCallers);
  std::vector<Caller> callers = make_callers(package);
  run_all(package, callers);
  std::map<std::string, std::string> wrong;
  for (size_t call = 0; call < package.calls().size(); ++call) {
    const std::string& id = package.calls()[call].id;
    for (const Caller& caller : callers) {
      if (!caller.raised.empty()) wrong[id] = fmt::format("a run raised: {}", caller.raised);
      for (const Package::Tensors& outputs : caller.outputs) {
        const AgreementResult same = compare_lists(outputs[call], caller.alone[call], {});
        if (same.disagreement) wrong[id] = same.disagreement->difference;
      }
    }
  }
  return wrong;
}

}  // namespace opgate
