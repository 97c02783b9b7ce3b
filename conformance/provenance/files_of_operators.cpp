#include "provenance/files_of_operators.h"

#include "provenance/compiler_inputs.h"
#include "provenance/source_files.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

using Files = std::set<std::string>;

Files without(const Files& files, const Files& others) {
  Files rest;
  std::ranges::set_difference(files, others, std::inserter(rest, rest.end()));
  return rest;
}

// The files of the project that register the operator. A compiler that was given a relative path names that.
Files registering_files(const Spec& spec, const OpRegistrations& registered, const fs::path& project) {
  const auto known = registered.find(spec.name);
  if (known == registered.end() && !spec.op) return {};
  Files files;
  for (const std::string& named :
       known != registered.end() ? known->second.files : registration_of(*spec.op).files) {
    const fs::path file = fs::weakly_canonical(project / named);
    if (is_within(file, project) && fs::exists(file)) files.insert(file.lexically_relative(project));
  }
  return files;
}

}  // namespace

Files files_of_others(const Config& config, const std::vector<std::string>& libraries,
                      const std::vector<Spec>& subjects, const OpRegistrations& registered,
                      const std::vector<bool>& chosen) {
  const fs::path project = fs::weakly_canonical(config.file.parent_path());
  CompilerInputs inputs(config, libraries, subjects);
  Files read[2], registering[2];
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Spec& spec = subjects[i];
    for (const auto& [file, digest] : inputs.of(spec).digests) read[chosen[i]].insert(file);
    registering[chosen[i]].merge(registering_files(spec, registered, project));
  }
  Files of_others = without(read[false], read[true]);
  Files registering_others = without(registering[false], registering[true]);
  // An operator may be composed of another one of its folder, whose kernels are then its own, too.
  of_others.merge(of_others.empty() ? registering_others : without(registering_others, read[true]));
  for (const fs::path& place : config.sources) {
    const fs::path folder = fs::weakly_canonical(place).lexically_relative(project);
    for (const Files& files : read) {
      for (const std::string& file : files) {
        if (is_within(file, folder)) of_others.insert(file);
      }
    }
  }
  return of_others;
}

}  // namespace opgate
