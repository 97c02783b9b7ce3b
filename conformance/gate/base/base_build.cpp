#include "gate/base/base_build.h"

#include <ATen/Version.h>
#include <c10/util/hash.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/build.h"
#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "device/device.h"
#include "process/run_program.h"
#include "provenance/digests.h"
#include "provenance/file_digest.h"
#include "run/output_folder.h"
#include "run/python/programs.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortCommit = 12;
constexpr size_t kShortDigest = 8;
constexpr size_t kErrorLines = 5;

// Runs git with these words. Returns what it prints, without the last newline, or nothing if git fails.
std::optional<std::string> git(const fs::path& folder, std::vector<std::string> words, const fs::path& log) {
  words.insert(words.begin(), "git");
  const int status = run_to_end({words}, folder, log, Errors::logged);
  std::string text = content_of(log);
  while (text.ends_with('\n')) text.pop_back();
  return status == 0 ? std::optional(text) : std::nullopt;
}

std::string tail_of(const fs::path& log) {
  return fmt::format("{}; the whole log is {}", fmt::join(last_lines(log, kErrorLines), " | "), log.string());
}

fs::path program_of(const fs::path& libraries) {
  const fs::path own = libraries / "bin" / "opgate";
  return !libraries.empty() && fs::exists(own) ? own : this_executable();
}

// A commit of the git repository that contains the configuration.
class Commit {
 public:
  Commit(const std::string& reference, const Config& head) : reference_(reference), head_(head) {
    const fs::path log = head.output / "base" / "git.log";
    const fs::path folder = head.file.parent_path();
    const auto top = git(folder, {"rev-parse", "--show-toplevel"}, log);
    if (!top) {
      throw setup_error(
          "{}: there is no such file or folder, and {} is in no git repository, so it cannot be a commit",
          reference, folder.string());
    }
    top_ = *top;
    const auto commit = git(top_, {"rev-parse", "--verify", "--quiet", reference + "^{commit}"}, log);
    if (!commit) {
      throw setup_error("{}: there is no such file or folder, and no such commit in {}; is it fetched?",
                        reference, top_.string());
    }
    commit_ = *commit;
    folder_ = head.output / "base" / commit_.substr(0, kShortCommit);
  }

  BaseBuild built(const Announce& announce) {
    const BuildRecipe& recipe = head_.build;
    if (recipe.command.empty()) {
      throw setup_error(
          "--base {} is a commit, and {} does not say how one is built: add build = "
          "{{ command = \"...\" }}, or name a folder that is already built",
          reference_, head_.file.string());
    }
    Descriptor lock = locked();
    const fs::path config = check_out();
    build(config.parent_path(), announce);
    const fs::path libraries = recipe.folder.empty() ? fs::path() : config.parent_path() / recipe.folder;
    return {name(), config, libraries, program_of(libraries), folder_, commit_, std::move(lock)};
  }

  CheckedOut checked_out() {
    Descriptor lock = locked();
    return {name(), read_config(check_out()), commit_, std::move(lock)};
  }

 private:
  std::string name() const { return fmt::format("{} ({})", reference_, commit_.substr(0, kShortCommit)); }
  fs::path checkout() const { return folder_ / "checkout"; }

  Descriptor locked() const {
    fs::create_directories(folder_);
    Descriptor lock(open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!lock.is_open()) {
      throw setup_error("cannot write into {}: {}; give another folder with --output", folder_.string(),
                        std::strerror(errno));
    }
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      throw setup_error("another run uses {} in {}; wait for it, or give another folder with --output",
                        name(), folder_.string());
    }
    return lock;
  }

  // Returns the configuration in the checkout.
  fs::path check_out() {
    make_checkout();
    const fs::path config = checkout() / fs::relative(fs::canonical(head_.file), fs::canonical(top_));
    if (!fs::exists(config))
      throw setup_error("{} has no {}; choose a base that has one", name(), config.string());
    return config;
  }

  void make_checkout() {
    const fs::path log = folder_ / "git.log";
    const fs::path whole = folder_ / "checked-out";  // missing if a checkout was interrupted
    if (fs::exists(whole) && fs::exists(checkout())) return;
    fs::remove_all(checkout());
    // --force is given twice because git still lists the worktree that was removed, and may have it locked.
    if (!git(top_, {"worktree", "add", "--force", "--force", "--detach", checkout().string(), commit_}, log))
      throw setup_error("git cannot check out {}: {}", name(), tail_of(log));
    AtomicFile(whole, commit_ + "\n").commit();
  }

  // Builds every time: a finished build costs nothing, and an interrupted one is continued.
  void build(const fs::path& folder, const Announce& announce) {
    const fs::path log = folder_ / "build.log";
    announce(fmt::format("base: building {}; the log is {}", name(), log.string()));
    const Command command{{"/bin/sh", "-c", head_.build.command},
                          {{"OPGATE_PYTHON", this_program(head_).python}}};
    const int status = run_to_end(command, folder, log, Errors::logged);
    if (status != 0) {
      throw setup_error("{} cannot be built: `{}` ended with {}: {}", name(), head_.build.command,
                        ending(status), tail_of(log));
    }
  }

  std::string reference_;
  const Config& head_;
  fs::path top_;
  std::string commit_;
  fs::path folder_;
};

// Everything that a run of the commit depends on, as text: if it has not changed, the results of an earlier
// run are still right.
std::string circumstances(const BaseBuild& base, const std::vector<std::string>& options) {
  Config config = read_config(base.config);
  config.libraries_from = base.libraries;
  const fs::path engine = base.program.parent_path().parent_path() / "lib" / "libopgate.so";
  std::vector<std::string> models;
  for (const c10::DeviceType device : device_types()) models.push_back(device_model(device));
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", fmt::join(options, "\n"), libraries_digest(config),
                     digest_of_file(engine), kTorchVersion, at::get_cpu_capability(),
                     fmt::join(models, ", "));
}

}  // namespace

BaseBuild find_base(const std::string& base, const Config& head, const Announce& announce) {
  if (!fs::is_directory(base)) return Commit(base, head).built(announce);
  const fs::path folder = fs::canonical(base);
  const fs::path output = head.output / "base" /
                          fmt::format("folder-{}", c10::sha1(folder.string()).str().substr(0, kShortDigest));
  if (fs::exists(folder / head.file.filename())) {
    const Config config = read_config(folder / head.file.filename());
    const fs::path libraries = config.build.folder.empty() ? fs::path() : folder / config.build.folder;
    return {"the checkout in " + folder.string(), config.file, libraries, program_of(libraries), output};
  }
  return {"the build in " + folder.string(), head.file, folder, program_of(folder), output};
}

CheckedOut check_out(const std::string& reference, const Config& head) {
  return Commit(reference, head).checked_out();
}

fs::path run_base(const BaseBuild& base, const std::vector<std::string>& options, const Announce& announce) {
  const fs::path results = results_file(base.output);
  const fs::path ran_as = base.output / "ran-as";
  const bool stays = !base.commit.empty();
  const std::string now = stays ? circumstances(base, options) : "";
  if (stays && fs::exists(results) && content_of(ran_as) == now) {
    announce(fmt::format("base: {} was run before; its results are used", base.name));
    return results;
  }
  announce(fmt::format("base: running {}", base.name));
  Command run{{base.program, "run", "--config", base.config, "--output", base.output}};
  if (!base.libraries.empty()) run.words.insert(run.words.end(), {"--build", base.libraries});
  run.words.insert(run.words.end(), options.begin(), options.end());
  fs::remove(ran_as);
  results_of_process(run, base.output, base.name + " cannot be run");
  if (stays) AtomicFile(ran_as, now).commit();
  return results;
}

}  // namespace opgate
