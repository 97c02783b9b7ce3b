// One module of PTX: reads kernels when they are first wanted, and runs them.
#include "kernels/module.h"

#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "compiled/compilation.h"
#include "instructions/catalogue.h"
#include "kernels/launch_comparison.h"
#include "kernels/ptx_hook.h"
#include "kernels/repeated_memory.h"
#include "machine/launches/grid.h"
#include "ptx/program_builder.h"
#include "ptx/source/declarations.h"
#include "watch/annotations.h"
#include "watch/late_launch.h"
#include "watch/launch_watch.h"
#include "watch/observer.h"

namespace opgate::simulator {
namespace ptx_module {

/// A kernel that has been read, and what other rooms keep about it.
struct Kernel {
  explicit Kernel(std::unique_ptr<Program> decoded) : program(std::move(decoded)), compilation(*program) {}

  std::unique_ptr<Program> program;
  KernelCompilation compilation;
  std::vector<Annotation> annotations;  ///< empty until a tool watches a launch

  int repetitions = 0;  ///< in another order, so far

  bool has_one_result() {
    if (!one_result) one_result = !may_depend_on_order(*program, annotations);
    return *one_result;
  }

 private:
  std::optional<bool> one_result;
};

// The first launches of a kernel, if they are short, are executed in a second order.
constexpr int kRepetitions = 4;
constexpr std::uint64_t kMostRepeated = 2'000'000;  // instructions

// The threads of one block see all of its stores at once.
bool has_late_stores(const Launch& launch) { return launch.late_stores_seed != 0 && launch.grid.count() > 1; }

/// Whether the launch, which has ended with `outcome` and left what the memory holds now, ends like that and
/// leaves the same if it is executed in another way. The memory stays as it is, and nothing is printed.
template <class Execute>
bool leaves_the_same(const Launch& launch, const Outcome& outcome, KeptMemory& kept, Execute in_another_way) {
  Launch again = launch;
  // With other values, a loop may have no end.
  constexpr std::uint64_t kLeast = 1'000'000;
  again.instruction_limit = 4 * outcome.instructions + kLeast;
  std::string printed;
  again.printed = &printed;
  RepeatedMemory memory(kept);
  const Outcome other = in_another_way(again, memory);
  // The host may have changed meanwhile what the launch has read there.
  if (launch.host_may_write && memory.accesses_host()) return true;
  return other.fault == outcome.fault && memory.has_left_the_same();
}

class PtxModule final : public Module {
 public:
  PtxModule(std::string ptx, bool threads_hold_copies)
      : original_(std::move(ptx)),
        ptx_(replaced_ptx(original_)),
        threads_hold_copies_(threads_hold_copies),
        declarations_(read_declarations(ptx_)) {}

  std::vector<std::string> kernels() const override { return declarations_.kernels; }

  const Signature* find(const std::string& kernel) override {
    const Kernel* const known = find_kernel(kernel);
    return known == nullptr ? nullptr : &known->program->signature;
  }

  std::vector<Variable> variables() const override {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < declarations_.variables.size(); ++i) {
      const Declared& declared = declarations_.variables[i];
      variables.push_back({declared.name, declared.bytes, declared.alignment, declarations_.is_constant[i],
                           declared.initial});
    }
    return variables;
  }

  void place(const std::string& variable, std::uint64_t address) override {
    addresses_[variable] = address;
    addresses_are_written_ = false;
  }

  void set_compilation(const CompilationSettings& settings) override { compilation_settings_ = settings; }

  Outcome run(const Launch& launch, DeviceMemory& memory) override {
    report_launch_of_ptx(original_, launch.kernel);
    Kernel* const kernel = find_kernel(launch.kernel);
    if (kernel == nullptr) throw std::runtime_error("the module has no kernel `" + launch.kernel + "`");
    Program& program = *kernel->program;
    if (launch.parameters.size() != program.signature.parameter_bytes)
      throw std::runtime_error("the kernel `" + launch.kernel + "` takes " +
                               std::to_string(program.signature.parameter_bytes) +
                               " bytes of parameters, not " + std::to_string(launch.parameters.size()));
    for (const VariableSlot& slot : program.variable_slots)
      program.functions[slot.function]->initial[static_cast<std::size_t>(slot.slot)] =
          address_of(slot.variable) + slot.addend;
    if (!addresses_are_written_) write_addresses(memory);
    CompilationSettings settings = compilation_settings_;
    const bool is_watched = launch.observer != nullptr;
    if (is_watched || has_late_stores(launch)) {
      settings.when = CompilationSettings::When::never;
      if (kernel->annotations.empty()) kernel->annotations = annotate(program);
      if (launches_are_compared())
        note_left_out(launch, is_watched ? "a tool watches it" : "its stores become visible late");
    }
    if (is_watched) return execute_watched(*kernel, settings, launch, memory);
    if (has_late_stores(launch)) return execute_late(*kernel, settings, launch, memory, nullptr);
    if (!launches_are_compared()) return execute(*kernel, settings, launch, memory, nullptr);
    return execute_both_ways(*kernel, settings, launch, memory);
  }

 private:
  static Outcome execute(Kernel& kernel, const CompilationSettings& settings, const Launch& launch,
                         DeviceMemory& memory, LaunchObserver* observer) {
    kernel.compilation.begin(launch, settings);
    Outcome outcome = Grid(*kernel.program, launch, memory, kernel.compilation, observer).run();
    kernel.compilation.end(launch, outcome);
    return outcome;
  }

  static Outcome execute_late(Kernel& kernel, const CompilationSettings& settings, const Launch& launch,
                              DeviceMemory& memory, LaunchObserver* tools) {
    LateLaunch late(launch, memory, tools);
    return execute(kernel, settings, launch, memory, &late);
  }

  static Outcome execute_watched(Kernel& kernel, const CompilationSettings& settings, const Launch& launch,
                                 DeviceMemory& memory) {
    LaunchWatch watch(*kernel.program, launch);
    const auto execute_in = [&](DeviceMemory& in) {
      return has_late_stores(launch) ? execute_late(kernel, settings, launch, in, &watch)
                                     : execute(kernel, settings, launch, in, &watch);
    };
    if (!watch.repeats()) return execute_in(memory);
    KeptMemory kept(memory);
    const Outcome outcome = execute_in(kept);
    if (outcome.fault != Fault::none) return outcome;
    RepeatedLaunch again(kernel, settings, launch, outcome, kept);
    watch.repeat(again);
    return outcome;
  }

  /// A launch that tools have watched, in the memory that they have kept.
  class RepeatedLaunch final : public Repetition {
   public:
    RepeatedLaunch(Kernel& kernel, const CompilationSettings& settings, const Launch& launch,
                   const Outcome& outcome, KeptMemory& kept)
        : kernel_(kernel), settings_(settings), launch_(launch), outcome_(outcome), kept_(kept) {}

    bool leaves_the_same_with(LaunchObserver& observer) override {
      return leaves_the_same(launch_, outcome_, kept_, [&](const Launch& again, DeviceMemory& in) {
        return execute(kernel_, settings_, again, in, &observer);
      });
    }

    bool leaves_the_same_in_another_order() override {
      if (!kernel_.has_one_result() || outcome_.instructions > kMostRepeated ||
          kernel_.repetitions++ >= kRepetitions)
        return true;
      return leaves_the_same(launch_, outcome_, kept_, [&](const Launch& again, DeviceMemory& in) {
        Launch reordered = again;
        ++reordered.order_seed;
        reordered.schedule = nullptr;
        return execute(kernel_, settings_, reordered, in, nullptr);
      });
    }

   private:
    Kernel& kernel_;
    const CompilationSettings& settings_;
    const Launch& launch_;
    const Outcome& outcome_;
    KeptMemory& kept_;
  };

  // The results of compiled code are kept, unless the settings want none.
  static Outcome execute_both_ways(Kernel& kernel, CompilationSettings settings, const Launch& launch,
                                   DeviceMemory& memory) {
    using When = CompilationSettings::When;
    const bool is_compiled_first = settings.when == When::never;
    const auto once = [&](const Launch& of, DeviceMemory& on, bool is_first) {
      settings.when = is_first == is_compiled_first ? When::always : When::never;
      return execute(kernel, settings, of, on, nullptr);
    };
    return execute_twice(launch, memory, once);
  }

  Kernel* find_kernel(const std::string& name) {
    if (hook_ != ptx_hook_number()) read_again();
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return &known->second;
    const DeclaredFunction* const function = declarations_.function(name);
    if (function == nullptr || !function->is_kernel || !function->has_body) return nullptr;
    std::unique_ptr<Program> program = ProgramBuilder(declarations_, instruction_set()).build(*function);
    program->threads_hold_copies = threads_hold_copies_;
    return &kernels_.try_emplace(name, std::move(program)).first->second;
  }

  // There is another hook since the module was loaded.
  void read_again() {
    hook_ = ptx_hook_number();
    const std::string ptx = replaced_ptx(original_);
    if (ptx == ptx_) return;
    ptx_ = ptx;
    kernels_.clear();
    declarations_ = read_declarations(ptx_);
  }

  std::uint64_t address_of(const std::string& variable) const {
    const auto known = addresses_.find(variable);
    if (known == addresses_.end())
      throw std::runtime_error("the variable `" + variable + "` has no address yet");
    return known->second;
  }

  // Variables that hold addresses of other variables can be filled when all addresses are known.
  void write_addresses(DeviceMemory& memory) {
    for (const Declared& variable : declarations_.variables) {
      const auto base = addresses_.find(variable.name);
      if (base == addresses_.end()) continue;
      for (const AddressInVariable& address : variable.addresses) {
        const auto target = addresses_.find(address.symbol);
        if (target == addresses_.end()) continue;
        const std::uint64_t value = target->second + address.addend;
        std::size_t until = 0;
        std::string why;
        void* const place =
            memory.translate(base->second + address.offset, sizeof(value), Access::store, until, why);
        if (place == nullptr)
          throw std::runtime_error("the variable `" + variable.name + "` cannot be written: " + why);
        std::memcpy(place, &value, sizeof(value));
      }
    }
    addresses_are_written_ = true;
  }

  std::string original_;  ///< before a hook replaced it
  std::string ptx_;
  unsigned hook_ = ptx_hook_number();
  bool threads_hold_copies_;
  Declarations declarations_;
  std::map<std::string, Kernel> kernels_;
  CompilationSettings compilation_settings_ = CompilationSettings::from_environment();
  std::map<std::string, std::uint64_t> addresses_;
  bool addresses_are_written_ = true;
};

}  // namespace ptx_module

std::unique_ptr<Module> Module::parse(std::string ptx, bool threads_hold_copies) {
  return std::make_unique<ptx_module::PtxModule>(std::move(ptx), threads_hold_copies);
}

}  // namespace opgate::simulator
