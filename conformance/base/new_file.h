// A file that appears whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace opgate {

/// Holds the new content beside the file, under a name of this process, until it is put in its place; removes
/// it otherwise.
class NewFile {
 public:
  /// Makes the folder where it is missing. Throws SetupError where it cannot write, as on a full disk.
  NewFile(std::filesystem::path file, std::string_view content);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  /// Replaces the file. Throws SetupError.
  void put_in_place();

 private:
  std::filesystem::path file_;
  std::filesystem::path beside_;  // empty once it is in its place
};

}  // namespace opgate
