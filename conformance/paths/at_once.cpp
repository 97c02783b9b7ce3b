#include "paths/at_once.h"

#include <fmt/format.h>

#include <barrier>
#include <thread>
#include <vector>

#include "base/text.h"
#include "checks/outputs.h"
#include "paths/package.h"

namespace opgate {
namespace {

constexpr size_t kCallers = 4;
constexpr size_t kRunsEach = 4;

struct Caller {
  Making making{.photographed = false};
  Package::Tensors alone;  // what its values give with nobody else about
  std::vector<Package::Tensors> inputs;
  std::vector<Package::Tensors> outputs;
  std::string raised;
};

// Each with values of its own: what the runs share must hold the same for all, or be found out.
std::vector<Caller> make_callers(Package& package) {
  std::vector<Caller> callers(kCallers);
  for (size_t i = 0; i < callers.size(); ++i) {
    Caller& caller = callers[i];
    caller.making.stream = i;
    try {
      caller.alone = package.run(package.inputs(caller.making));
    } catch (const std::exception&) {  // other values are not always good ones
      caller.making.stream = 0;
      caller.alone = package.run(package.inputs(caller.making));
    }
    for (size_t run = 0; run < kRunsEach; ++run) caller.inputs.push_back(package.inputs(caller.making));
  }
  return callers;
}

void run_all(Package& package, std::vector<Caller>& callers) {
  std::barrier start(static_cast<std::ptrdiff_t>(callers.size()));
  std::vector<std::thread> threads;
  for (Caller& caller : callers) {
    threads.emplace_back([&] {
      for (const Package::Tensors& inputs : caller.inputs) {
        start.arrive_and_wait();
        try {
          caller.outputs.push_back(package.run(inputs));
        } catch (const std::exception& error) {  // whatever the generated code raises is the package's answer
          caller.raised = first_line(error.what());
          start.arrive_and_drop();
          return;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
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
        const Judgement same = judge_values(outputs[call], caller.alone[call], {});
        if (same.finding) wrong[id] = same.finding->happened;
      }
    }
  }
  return wrong;
}

}  // namespace opgate
