#include "run/subjects.h"

#include "spec/sample_json.h"

namespace opgate {

std::vector<Spec> load_subjects(const Setup& setup) {
  for (const std::string& library : setup.libraries) load_library(library);
  for (const std::string& library : setup.specs) load_library(library);
  std::vector<Spec> subjects = registered_specs();
  for (const nlohmann::json& model : setup.models) subjects.push_back(model_from_json(model));
  for (Spec& subject : subjects) fit_to_schema(subject);
  name_subjects(subjects);
  return subjects;
}

}  // namespace opgate
