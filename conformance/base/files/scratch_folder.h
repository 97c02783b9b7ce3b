// A folder for the time of one command.
#pragma once

#include <filesystem>
#include <string_view>

namespace opgate {

/// A new folder in /tmp that is removed with this object. Its path has no space and no colon, because
/// LD_PRELOAD separates its entries by them.
class ScratchFolder {
 public:
  /// `name` begins its name. Throws SetupError if it cannot be made.
  explicit ScratchFolder(std::string_view name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace opgate
