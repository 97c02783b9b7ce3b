#include "run/protocol.h"

#include <c10/util/hash.h>

#include <fstream>
#include <iterator>

namespace opgate {

void to_json(nlohmann::json& json, const Setup& setup) {
  json = {{"libraries", setup.libraries},
          {"specs", setup.specs},
          {"modules", setup.modules},
          {"packages", setup.packages},
          {"models", setup.models}};
}

void from_json(const nlohmann::json& json, Setup& setup) {
  json.at("libraries").get_to(setup.libraries);
  json.at("specs").get_to(setup.specs);
  json.at("modules").get_to(setup.modules);
  json.at("packages").get_to(setup.packages);
  setup.models = json.at("models");
}

std::string libraries_digest(const Setup& setup) {
  std::string bytes;
  for (const auto* files : {&setup.libraries, &setup.specs}) {
    for (const std::string& file : *files) {
      std::ifstream stream(file, std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(stream), {});
    }
  }
  return c10::sha1(bytes).str();
}

Setup setup_from(const Config& config) {
  Setup setup;
  for (const std::string& name : config.libraries) setup.libraries.push_back(config.find_library(name));
  for (const std::string& name : config.specs) setup.specs.push_back(config.find_library(name));
  setup.modules = config.modules;
  setup.packages = config.output / "packages";
  return setup;
}

}  // namespace opgate
