// A base for `opgate gate` that is no finished run yet: a folder with a build, a checkout, or a commit that
// is checked out and built first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "plan/config.h"

namespace opgate {

/// Stays locked while it is there: two gates must not build, or use, one checkout at a time.
struct BaseBuild {
  std::string name;                 ///< "HEAD~1 (1a2b3c4d5e6f)", "the build in out/build"
  std::filesystem::path config;     ///< its opgate.toml
  std::filesystem::path libraries;  ///< folder that all libraries are taken from; empty: where config says
  std::filesystem::path program;    ///< its own `opgate` where it has one, otherwise this one
  std::filesystem::path output;     ///< of its results and packages
  bool stays = false;               ///< a commit: what was seen of it once is seen of it always
  Descriptor lock = Descriptor();
};

/// Finds what `base` names, or makes it: a folder with an opgate.toml is a checkout that is built already,
/// another folder holds libraries (or has them in lib/), and everything else is a git reference, which is
/// checked out below `head.output` and built as `head.build` says. Says on stdout what takes long. Throws
/// SetupError, and Interrupted.
BaseBuild find_base(const std::string& base, const Config& head);

/// Runs it with these options of `opgate run`, in a process of its own, or takes what an earlier run of the
/// same commit said: the folder with results.jsonl. Throws as above.
std::filesystem::path run_base(const BaseBuild& base, const std::vector<std::string>& options);

}  // namespace opgate
