// A base for `opgate gate` that must be run first: a folder with a build, a checkout that is built, or a
// commit, which is checked out and built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/descriptor.h"
#include "gate/base/process_run.h"
#include "plan/config.h"

namespace opgate {

/// A build to compare with. A commit's checkout stays locked while this object lives, because two gates
/// must not build or use one checkout at the same time.
struct BaseBuild {
  std::string name;                 ///< "HEAD~1 (1a2b3c4d5e6f)", "the build in out/build"
  std::filesystem::path config;     ///< its opgate.toml
  std::filesystem::path libraries;  ///< folder of all libraries; empty if they are where `config` says
  std::filesystem::path program;    ///< its own `opgate` where it has one, otherwise this one
  std::filesystem::path output;     ///< folder for its results and packages
  std::string commit = {};          ///< its hash if it is a commit, whose earlier results are used
  Descriptor lock = Descriptor();
};

/// Finds or makes the build that `base` names. A folder with an opgate.toml is a checkout that is already
/// built; any other folder holds libraries (or has them in lib/); everything else is a git reference, which
/// is checked out below `head.output` and built by the command `head.build`. Throws SetupError and
/// Interrupted.
BaseBuild find_base(const std::string& base, const Config& head, const Announce& announce);

/// A commit that is checked out, but not built, and its configuration. It stays locked as a BaseBuild does.
struct CheckedOut {
  std::string name;  ///< "main (1a2b3c4d5e6f)"
  Config config;
  std::string commit;  ///< its hash
  Descriptor lock;
};

/// Checks out the commit below `head.output`. Throws SetupError and Interrupted.
CheckedOut check_out(const std::string& reference, const Config& head);

/// Runs `base` with these options of `opgate run` in a process of its own, unless an earlier run of the
/// same commit is still valid. Returns the file with the results. Throws SetupError and Interrupted.
std::filesystem::path run_base(const BaseBuild& base, const std::vector<std::string>& options,
                               const Announce& announce);

}  // namespace opgate
