#include "compiled/compilation.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "compiled/translator.h"
#include "environment/setting.h"

namespace opgate::simulator {
namespace compilation {

// In instructions that could be interpreted in the time: to translate a kernel and look for it in the cache,
// to start the compiler, and to compile one instruction.
constexpr std::uint64_t kCostOfLooking = 4'000'000;
constexpr std::uint64_t kCostOfCompiler = 20'000'000;
constexpr std::uint64_t kCostOfInstruction = 150'000;

// A thread that helps takes longer to wake up than fewer instructions take.
constexpr std::uint64_t kWorthAThread = 1'000'000;
constexpr unsigned kMostThreads = 256;
// A reduction to memory that two threads use takes as long as so many instructions.
constexpr std::uint64_t kCostOfReduction = 100;

unsigned threads_from_environment() {
  const std::string text = value_of(Setting::threads);
  unsigned threads = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (failed != std::errc() || end != text.data() + text.size() || threads > kMostThreads)
    throw std::runtime_error(assignment(Setting::threads) + ": give a number from 0 to " +
                             std::to_string(kMostThreads));
  return threads;
}

unsigned processors() {
  static const unsigned known = std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  return known;
}

std::uint64_t threads_of(const Launch& launch) { return launch.grid.count() * launch.block.count(); }

const std::optional<CCompiler>& default_compiler() {
  // Never destroyed: kernels may be compiled while the process ends.
  static const auto* const compiler = new std::optional<CCompiler>(CCompiler::find(""));
  return *compiler;
}

}  // namespace compilation

CompilationSettings CompilationSettings::from_environment() {
  CompilationSettings settings;
  const std::string mode = value_of(Setting::compile);
  if (mode == "never") {
    settings.when = When::never;
  } else if (mode == "always") {
    settings.when = When::always;
  } else if (mode != "automatic") {
    throw std::runtime_error(assignment(Setting::compile) + ": give never, always or automatic");
  }
  settings.threads = compilation::threads_from_environment();
  return settings;
}

std::uint64_t KernelCompilation::cost_of_compiling() const {
  std::uint64_t instructions = 0;
  for (const auto& function : program_.functions) instructions += function->code.size();
  return compilation::kCostOfCompiler + compilation::kCostOfInstruction * instructions;
}

void KernelCompilation::begin(const Launch& launch, const CompilationSettings& settings) {
  settings_ = settings;
  threads_of_launch_ = compilation::threads_of(launch);
  if (settings_.when == CompilationSettings::When::never) {
    for (const auto& function : program_.functions) function->compiled = nullptr;
    return;
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) program_.functions[i]->compiled = &functions_[i];
  if (settings_.when == CompilationSettings::When::always) {
    compile(/*only_from_cache=*/false);
    return;
  }
  // Each instruction is executed about once by each thread, as long as nothing better is known.
  const std::uint64_t each =
      of_a_thread_ != 0 ? of_a_thread_ : std::uint64_t{program_.functions.front()->code.size()};
  consider(spent_, each * compilation::threads_of(launch));
}

void KernelCompilation::go_on(std::uint64_t executed, std::uint64_t remaining) {
  if (settings_.when == CompilationSettings::When::automatic) consider(spent_ + executed, remaining);
}

unsigned KernelCompilation::threads(std::uint64_t executed, std::uint64_t remaining) {
  if (!is_used()) return 1;
  const std::uint64_t most = settings_.threads != 0 ? settings_.threads : compilation::processors();
  const std::uint64_t worth = std::min(most, 1 + remaining / compilation::kWorthAThread);
  if (worth == 1) return 1;
  if (!may_spread_) {
    may_spread_ = why_one_thread(program_).empty();
    if (*may_spread_) reductions_ = reductions_of(program_);
  }
  const std::uint64_t of_a_thread = (executed + remaining) / threads_of_launch_;
  const bool is_worth_it = reductions_.instructions_for_each(of_a_thread) >= compilation::kCostOfReduction;
  return *may_spread_ && is_worth_it ? static_cast<unsigned>(worth) : 1;
}

void KernelCompilation::end(const Launch& launch, Outcome& outcome) {
  outcome.compiled = is_used();
  if (!outcome.compiled) spent_ += outcome.instructions;
  of_a_thread_ = outcome.instructions / std::max<std::uint64_t>(compilation::threads_of(launch), 1);
}

void KernelCompilation::consider(std::uint64_t spent, std::uint64_t remaining) {
  if (object_ != nullptr || was_tried_) return;
  const std::uint64_t cost = cost_of_compiling();
  if (spent >= cost || remaining >= cost) {
    compile(/*only_from_cache=*/false);
  } else if (!was_sought_ &&
             (spent >= compilation::kCostOfLooking || remaining >= compilation::kCostOfLooking)) {
    compile(/*only_from_cache=*/true);
  }
}

void KernelCompilation::compile(bool only_from_cache) {
  if (object_ != nullptr || was_tried_) return;
  was_sought_ = true;
  was_tried_ = !only_from_cache;
  const std::optional<CCompiler> named =
      settings_.compiler.empty() ? std::nullopt : CCompiler::find(settings_.compiler);
  const std::optional<CCompiler>& compiler =
      settings_.compiler.empty() ? compilation::default_compiler() : named;
  if (!compiler) {
    was_tried_ = true;
    complain("there is no C compiler");
    return;
  }
  const Translation translation = translate(program_);
  const Digest key = sha256(compiler->identity() + translation.code);
  const ObjectCache cache(settings_.folder.empty() ? ObjectCache::default_folder() : settings_.folder);
  if (use(cache.load(key), translation.functions) || only_from_cache) return;
  std::string why;
  if (!use(cache.build(key, translation.code, *compiler, why), translation.functions)) complain(why);
}

bool KernelCompilation::use(LoadedObject object, std::vector<CompiledFunction> functions) {
  if (object == nullptr) return false;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    void* const symbol = dlsym(object.get(), symbol_of(i).c_str());
    if (symbol == nullptr) return false;
    functions[i].enter = reinterpret_cast<CompiledEntry>(symbol);
  }
  functions_ = std::move(functions);
  object_ = std::move(object);
  for (std::size_t i = 0; i < functions_.size(); ++i) program_.functions[i]->compiled = &functions_[i];
  return true;
}

// Says why there are none where compiled kernels were asked for. Once is enough.
void KernelCompilation::complain(const std::string& why) const {
  static std::atomic<bool> is_said = false;
  if (settings_.when != CompilationSettings::When::always || is_said.exchange(true)) return;
  std::fprintf(stderr, "simulator: kernels are interpreted, not compiled: %s\n", why.c_str());
}

}  // namespace opgate::simulator
