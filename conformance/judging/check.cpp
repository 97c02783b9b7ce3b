#include "judging/check.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "spec/specs.h"

namespace opgate {
namespace {

constexpr std::array<std::string_view, 3> kWorkers{"native", "python", "aoti"};
constexpr std::array<std::string_view, 7> kVariants{"contiguous", "rearranged", "resized", "same_sizes",
                                                    "packaged",   "every",      "bad"};

template <size_t N>
size_t position(const std::array<std::string_view, N>& words, std::string_view word) {
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == word) return i;
  }
  throw std::invalid_argument("'" + std::string(word) + "' is not one of the words expected here");
}

}  // namespace

std::string_view to_string(Worker worker) { return kWorkers[static_cast<size_t>(worker)]; }

Worker worker_from_string(std::string_view text) { return static_cast<Worker>(position(kWorkers, text)); }

bool needs_device(std::string_view check) {
  const Check* native = Registry<Check>::instance().find(check);
  return native == nullptr || native->needs_device;
}

Check check_from_json(const nlohmann::json& described) {
  Check check;
  check.name = described.at("id");
  const nlohmann::json& told = described.at("explanation");
  check.explanation = {.promise = told.at("promise"),
                       .why = told.at("why"),
                       .fix = told.at("fix"),
                       .example = told.at("example"),
                       .wrong = told.at("wrong"),
                       .right = told.at("right"),
                       .does_not_find = told.at("does_not_find"),
                       .script = told.at("script")};
  check.worker = Worker::python;
  check.needs_package = described.at("needs_package");
  check.needs_fake = described.at("needs_fake");
  check.slow = described.at("slow");
  check.missing = described.at("missing");
  check.revision = described.at("revision");
  check.scope.ops = described.at("ops");
  check.scope.models = described.at("models");
  check.scope.classes = described.at("classes");
  check.scope.dtypes = described.at("dtypes") == "first" ? Scope::Dtypes::first : Scope::Dtypes::declared;
  check.scope.first_sample = described.at("first_sample");
  check.scope.registered = described.at("registered");
  check.scope.over_torch = described.at("over_torch");
  check.scope.over_autograd = described.at("over_autograd");
  check.scope.reference = described.at("reference");
  if (const std::string device = described.at("device"); !device.empty())
    check.scope.device = device == "cpu" ? Scope::Device::cpu : Scope::Device::accelerator;
  check.scope.variants =
      static_cast<Scope::Variants>(position(kVariants, described.at("variants").get<std::string>()));
  if (const nlohmann::json& subjects = described.at("subjects"); !subjects.is_null())
    check.scope.subjects = subjects.get<std::set<std::string>>();
  if (const nlohmann::json& promised = described.at("promised"); !promised.is_null())
    check.scope.promised = known_promise(promised, "the check " + check.name);
  check.scope.sweep = Scope::Sweep::one_at_a_time;
  return check;
}

}  // namespace opgate
