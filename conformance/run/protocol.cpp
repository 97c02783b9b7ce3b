#include "run/protocol.h"

#include <c10/util/hash.h>
#include <dlfcn.h>

#include <algorithm>

#include "base/files.h"

namespace opgate {

void to_json(nlohmann::json& json, const Setup& setup) {
  json = {{"libraries", setup.libraries},
          {"specs", setup.specs},
          {"modules", setup.modules},
          {"packages", setup.packages},
          {"models", setup.models},
          {"memory", setup.memory},
          {"checks", setup.checks},
          {"filter", setup.filter},
          {"plan", setup.plan},
          {"worker", to_string(setup.worker)},
          {"regressions", setup.regressions},
          {"recorded", setup.recorded}};
}

void from_json(const nlohmann::json& json, Setup& setup) {
  json.at("libraries").get_to(setup.libraries);
  json.at("specs").get_to(setup.specs);
  json.at("modules").get_to(setup.modules);
  json.at("packages").get_to(setup.packages);
  setup.models = json.at("models");
  json.at("regressions").get_to(setup.regressions);
  json.at("recorded").get_to(setup.recorded);
  json.at("memory").get_to(setup.memory);
  setup.checks = json.at("checks");
  json.at("filter").get_to(setup.filter);
  json.at("plan").get_to(setup.plan);
  setup.worker = worker_from_string(json.at("worker").get<std::string>());
}

std::vector<Check> all_checks(const nlohmann::json& described) {
  std::vector<Check> checks = native_checks();
  for (const nlohmann::json& check : described) checks.push_back(check_from_json(check));
  std::ranges::sort(checks, {}, &Check::name);
  return checks;
}

std::string libraries_digest(const Setup& setup) {
  std::string bytes = setup.sources;
  for (const auto* files : {&setup.libraries, &setup.specs}) {
    for (const std::string& file : *files) bytes += content_of(file);
  }
  return c10::sha1(bytes).str();
}

std::string engine_digest() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&engine_digest), &info);
  return c10::sha1(content_of(info.dli_fname)).str();
}

Setup setup_from(const Config& config) {
  Setup setup;
  for (const std::string& name : config.libraries) setup.libraries.push_back(config.find_library(name));
  for (const std::string& name : config.specs) setup.specs.push_back(config.find_library(name));
  setup.modules = config.modules;
  setup.regressions = config.regressions;
  setup.recorded = config.recorded;
  setup.packages = config.output / "packages";
  return setup;
}

}  // namespace opgate
