// Kernels in single precision, interpreted, watched by tools, with stores that become visible late, and
// compiled, also on two threads. Compiling itself is not measured.
#include <benchmark/benchmark.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/module.h"
#include "watch/observer.h"

namespace opgate::simulator::tests {
namespace compiled_benchmark {

/// One allocation at address kBase.
class OneAllocation final : public DeviceMemory {
 public:
  static constexpr std::uint64_t kBase = 0x7f0000000000;

  explicit OneAllocation(std::size_t floats) : values_(floats) {
    std::uint32_t random = 1;
    for (float& value : values_) {
      random = random * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<std::int32_t>(random)) * 0x1p-30f;
    }
  }

  void* translate(std::uint64_t address, std::size_t bytes, Access, std::size_t& until,
                  std::string& why) override {
    const std::uint64_t offset = address - kBase;
    const std::size_t size = values_.size() * sizeof(float);
    if (offset > size || bytes > size - offset) {
      why = "past the end";
      return nullptr;
    }
    until = size - offset;
    return reinterpret_cast<unsigned char*>(values_.data()) + offset;
  }

  bool may_be_asked_at_once() const override { return true; }

  Allocated allocation_of(std::uint64_t) override { return {kBase, values_.size() * sizeof(float)}; }

 private:
  std::vector<float> values_;
};

struct Case {
  const char* kernel;
  Extent grid;
  Extent block;
  std::uint32_t elements;  ///< of each operand
  std::uint32_t size;      ///< the parameter of the kernel
  bool two_sources;
};

void run(benchmark::State& state, const Case& of, CompilationSettings::When when, const Tools& tools = {},
         std::uint64_t late_stores_seed = 0, unsigned threads = 1) {
  OneAllocation memory(std::size_t{3} * of.elements);
  const std::unique_ptr<Module> module = Module::parse(ptx::floats);
  CompilationSettings settings;
  settings.when = when;
  settings.threads = threads;
  module->set_compilation(settings);
  Launch launch;
  launch.kernel = of.kernel;
  launch.grid = of.grid;
  launch.block = of.block;
  Observer observer(tools);
  if (tools.any()) launch.observer = &observer;
  launch.late_stores_seed = late_stores_seed;
  const auto add = [&](const auto& value) {
    const std::size_t at = launch.parameters.size();
    launch.parameters.resize(at + sizeof(value));
    std::memcpy(launch.parameters.data() + at, &value, sizeof(value));
  };
  const std::uint64_t bytes = std::uint64_t{of.elements} * sizeof(float);
  add(OneAllocation::kBase);
  add(OneAllocation::kBase + bytes);
  if (of.two_sources) add(OneAllocation::kBase + 2 * bytes);
  add(of.size);
  const Outcome first = module->run(launch, memory);
  if (first.compiled != (when == CompilationSettings::When::always) || first.threads != threads) {
    state.SkipWithError("there is no compiled code, or the launch is not spread");
    return;
  }
  double instructions = 0;
  for (auto _ : state) {
    const Outcome outcome = module->run(launch, memory);
    if (outcome.fault != Fault::none) {
      state.SkipWithError(outcome.message.c_str());
      break;
    }
    instructions += static_cast<double>(outcome.instructions);
    if (!observer.take_findings().empty()) state.SkipWithError("a tool has found something");
    benchmark::DoNotOptimize(observer.accessed().take());
  }
  state.counters["instructions"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

const Case kGelu{"gelu", {3907}, {256}, 1'000'000, 1'000'000, false};
const Case kMultiply{"multiply", {16, 16}, {16, 16}, 65536, 256, true};
const Case kMultiplyTiles{"multiply_tiles", {16, 16}, {16, 16}, 65536, 256, true};
const Case kRowNorms{"row_norms", {256}, {256}, 262144, 1024, true};

constexpr Tools kNoTools;
constexpr Tools kInit{.init = true};
constexpr Tools kRace{.race = true};
constexpr Tools kStream{.stream = true};
constexpr Tools kAllTools{.init = true, .race = true, .sync = true, .stream = true};

#define OPGATE_BOTH_WAYS(name, of)                                                             \
  BENCHMARK_CAPTURE(run, name##_init, of, CompilationSettings::When::never, kInit)             \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_race, of, CompilationSettings::When::never, kRace)             \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_stream, of, CompilationSettings::When::never, kStream)         \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_tools, of, CompilationSettings::When::never, kAllTools)        \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_late, of, CompilationSettings::When::never, kNoTools, 1)       \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_interpreted, of, CompilationSettings::When::never)             \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_compiled, of, CompilationSettings::When::always)               \
      ->Unit(benchmark::kMillisecond);                                                         \
  BENCHMARK_CAPTURE(run, name##_spread, of, CompilationSettings::When::always, kNoTools, 0, 2) \
      ->MeasureProcessCPUTime()                                                                \
      ->UseRealTime()                                                                          \
      ->Unit(benchmark::kMillisecond)

OPGATE_BOTH_WAYS(gelu, kGelu);
OPGATE_BOTH_WAYS(multiply, kMultiply);
OPGATE_BOTH_WAYS(multiply_tiles, kMultiplyTiles);
OPGATE_BOTH_WAYS(row_norms, kRowNorms);

}  // namespace compiled_benchmark
}  // namespace opgate::simulator::tests
