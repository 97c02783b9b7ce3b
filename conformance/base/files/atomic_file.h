// A file that appears complete or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace opgate {

/// Writes the new content beside the file, under a name that contains this process's id. commit() renames
/// it to the file; the destructor removes it if commit() was not called.
class AtomicFile {
 public:
  /// Creates the folder if it is missing. Throws SetupError if the content cannot be written, as on a full
  /// disk.
  AtomicFile(std::filesystem::path file, std::string_view content);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// Replaces the file. Throws SetupError if the rename fails.
  void commit();

 private:
  std::filesystem::path file_;
  std::filesystem::path beside_;  // the temporary file; empty after commit()
};

}  // namespace opgate
