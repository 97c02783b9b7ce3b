#include "cli/scripts/script_request.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "inputs/damage.h"
#include "process/libraries/library.h"
#include "run/python/programs.h"
#include "spec/schema/registered_name.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The path as seen from here where it is below, so that the script also runs in another checkout.
std::string seen_from_here(const fs::path& file) {
  const auto below = file.lexically_normal().lexically_relative(fs::current_path());
  return below.empty() || *below.begin() == ".." ? file.string() : below.string();
}

// Whether Python modules register what the script calls: the operator, its kernel, or its fake kernel.
bool needs_modules(const Spec& spec, const Check& check, const Config& config) {
  const bool asks_fake = check.worker == Worker::python || check.group() == "fake";
  return config.libraries.empty() || spec.kernels_in_python ||
         (asks_fake && !spec.op->hasComputedKernelForDispatchKey(c10::DispatchKey::Meta));
}

}  // namespace

json script_request(const PlannedCall& call, const Check& check, const Config& config, const Setup& setup) {
  const Spec& spec = *call.key.spec;
  if (spec.kind != Spec::Kind::op)
    throw setup_error(
        "--python writes calls of operators, and {} is a model or a class; use `opgate repro` "
        "without --python",
        spec.id);
  const std::optional<InputDamage> damage = damage_of(call.key.variant);
  if (damage && damage->kind == InputDamage::Kind::undefined)
    throw SetupError(
        "--python cannot pass an undefined tensor, which only C++ callers can; choose another case");
  json libraries = json::array(), modules = json::array(), kernels = json::array();
  for (const std::string& library : config.libraries) {
    const fs::path file = config.find_library(library);
    libraries.push_back({{"file", seen_from_here(file)}, {"lends", lends_symbols(file)}});
  }
  const bool imports = !config.modules.empty() && needs_modules(spec, check, config);
  for (const std::string& module : config.modules) {
    if (std::ranges::find(config.kernels, module, &KernelFolder::name) == config.kernels.end())
      modules.push_back(module);
  }
  for (const KernelFolder& kernel : config.kernels)
    kernels.push_back({{"id", kernel.id}, {"file", seen_from_here(kernel.folder / "__init__.py")}});
  const bool stays = damage && damage->kind == InputDamage::Kind::device;
  return {{"setup", setup},
          {"call", call.id},
          {"check", check.name},
          {"question", check.explanation.script},
          {"on_cpu", stays ? damage->argument : ""},
          {"operator", registered_name(spec.name)},
          {"reference", registered_name(spec.reference_op)},
          {"where", spec.where},
          {"libraries", libraries},
          {"imports", imports},
          {"modules", modules},
          {"kernels", kernels},
          {"python_path", this_program(config).python_path}};
}

}  // namespace opgate
