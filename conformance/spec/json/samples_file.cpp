#include "spec/json/samples_file.h"

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"

namespace opgate {

using nlohmann::json;
namespace fs = std::filesystem;

void write_samples(const fs::path& file, const std::vector<Spec>& subjects) {
  json samples = json::object();
  for (const Spec& spec : subjects) {
    if (!spec.op) continue;
    json& of_op = samples[spec.name] = json::array();
    for (const Sample& sample : spec.samples) of_op.push_back(to_json(sample));
  }
  AtomicFile(file, samples.dump(1, ' ', false, json::error_handler_t::replace) + "\n").commit();
}

void replace_samples(const fs::path& file, std::vector<Spec>& subjects) {
  const json samples = json::parse(content_of(file), nullptr, /*allow_exceptions=*/false);
  if (!samples.is_object()) {
    throw setup_error(
        "{} holds no samples: name the samples.json of another run, which `opgate run` writes beside "
        "its results",
        file.string());
  }
  for (Spec& spec : subjects) {
    if (spec.kind != Spec::Kind::op) continue;
    spec.samples.clear();
    for (const json& described : samples.value(spec.name, json::array()))
      spec.samples.push_back(sample_from_json(described));
  }
}

}  // namespace opgate
