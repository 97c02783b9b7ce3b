#include "cli/project/current_results.h"

#include <c10/util/hash.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>

#include "base/files.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

std::string digest_of(const fs::path& file) { return c10::sha1(content_of(file)).str(); }

// The digest of that library in the run. The run may have been made elsewhere, with the file in another folder.
const std::string* digest_in_run(const RunHeader& header, const fs::path& library) {
  const auto exact = header.files.find(fs::weakly_canonical(library));
  if (exact != header.files.end()) return &exact->second;
  const auto same_name = std::ranges::find_if(header.files, [&](const auto& entry) {
    return fs::path(entry.first).filename() == library.filename();
  });
  return same_name == header.files.end() ? nullptr : &same_name->second;
}

std::optional<fs::path> found(const Config& config, const std::string& library) {
  try {
    return config.find_library(library);
  } catch (const SetupError&) {
    return std::nullopt;
  }
}

}  // namespace

bool demand_current(const RunHeader& header, const fs::path& results, const Config& config) {
  const auto demand_same = [&](const fs::path& file, const std::string& then) {
    if (digest_of(file) == then) return;
    throw SetupError(
        fmt::format("{} (run of {}) is out of date: {} is another one now; run `opgate run` again",
                    results.string(), header.started, file.string()));
  };
  bool all_here = true;
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) {
      const auto library = found(config, name);
      if (!library || !fs::exists(*library)) {
        all_here = false;
        continue;
      }
      const std::string* then = digest_in_run(header, *library);
      if (then == nullptr) {
        throw SetupError(
            fmt::format("{} (run of {}) has no results of {}, which opgate.toml lists; run "
                        "`opgate run` again",
                        results.string(), header.started, library->string()));
      }
      demand_same(*library, *then);
    }
  }
  for (const auto& [file, then] : header.files) {
    if (fs::exists(file)) demand_same(file, then);
  }
  return all_here;
}

}  // namespace opgate
