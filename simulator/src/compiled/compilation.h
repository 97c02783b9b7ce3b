// Decides whether a kernel is compiled, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiled/compilation_settings.h"
#include "compiled/object_cache.h"
#include "compiled/one_thread.h"
#include "machine/launches/compiled_code.h"
#include "machine/launches/launch.h"
#include "machine/launches/progress_listener.h"
#include "ptx/program.h"

namespace opgate::simulator {

/// The compilation of one kernel. It interprets until it has spent about as much time as compiling takes,
/// unless it can know before that a launch will take longer.
class KernelCompilation final : public ProgressListener {
 public:
  explicit KernelCompilation(Program& program) : program_(program) {}

  void begin(const Launch& launch, const CompilationSettings& settings);

  void go_on(std::uint64_t executed, std::uint64_t remaining) override;

  unsigned threads(std::uint64_t executed, std::uint64_t remaining) override;

  void end(const Launch& launch, Outcome& outcome);

 private:
  bool is_used() const { return program_.functions.front()->compiled != nullptr; }
  void consider(std::uint64_t spent, std::uint64_t remaining);
  void compile(bool only_from_cache);
  bool use(LoadedObject object, std::vector<CompiledFunction> functions);
  void complain(const std::string& why) const;
  std::uint64_t cost_of_compiling() const;

  Program& program_;
  CompilationSettings settings_;
  std::uint64_t spent_ = 0;        ///< instructions that were interpreted in earlier launches
  std::uint64_t of_a_thread_ = 0;  ///< instructions, in the last launch
  bool was_sought_ = false;        ///< in the cache
  bool was_tried_ = false;
  LoadedObject object_;
  std::vector<CompiledFunction> functions_;
  std::uint64_t threads_of_launch_ = 0;
  std::optional<bool> may_spread_;  ///< without a value: nothing has asked yet
  Reductions reductions_;           ///< if it may be spread
};

}  // namespace opgate::simulator
