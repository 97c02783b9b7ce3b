#include "run/protocol.h"

namespace opgate {

std::optional<std::string> broken_setup(const nlohmann::json& message) {
  if (!message.contains("broken")) return std::nullopt;
  const nlohmann::json& why = message.at("broken");
  return why.is_string() ? why.get<std::string>() : why.dump();
}

void to_json(nlohmann::json& json, const Setup& setup) {
  json = {{"libraries", setup.libraries},
          {"native", setup.native},
          {"specs", setup.specs},
          {"modules", setup.modules},
          {"namespaces", setup.namespaces},
          {"packages", setup.packages},
          {"models", setup.models},
          {"python_kernels", setup.python_kernels},
          {"mutant", setup.mutant},
          {"simulated", setup.simulated},
          {"memory", setup.memory},
          {"checks", setup.checks},
          {"filter", setup.filter},
          {"plan", setup.plan},
          {"worker", to_string(setup.worker)},
          {"regressions", setup.regressions},
          {"recorded", setup.recorded},
          {"samples", setup.samples},
          {"outputs", setup.outputs}};
}

void from_json(const nlohmann::json& json, Setup& setup) {
  json.at("libraries").get_to(setup.libraries);
  json.at("native").get_to(setup.native);
  json.at("specs").get_to(setup.specs);
  json.at("modules").get_to(setup.modules);
  json.at("namespaces").get_to(setup.namespaces);
  json.at("packages").get_to(setup.packages);
  setup.models = json.at("models");
  json.at("python_kernels").get_to(setup.python_kernels);
  json.at("regressions").get_to(setup.regressions);
  json.at("recorded").get_to(setup.recorded);
  json.at("samples").get_to(setup.samples);
  json.at("outputs").get_to(setup.outputs);
  json.at("mutant").get_to(setup.mutant);
  json.at("simulated").get_to(setup.simulated);
  json.at("memory").get_to(setup.memory);
  setup.checks = json.at("checks");
  json.at("filter").get_to(setup.filter);
  json.at("plan").get_to(setup.plan);
  setup.worker = worker_from_string(json.at("worker").get<std::string>());
}

}  // namespace opgate
