// results.jsonl: a line for the run, a line a verdict as it comes, a line at the end. Append-only, so that a
// crash or Ctrl-C loses nothing that was known.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "checks/verdict.h"

namespace opgate {

/// The first line: which run this is.
struct RunHeader {
  std::string opgate;  ///< version
  std::string torch;   ///< version
  std::string plan;    ///< Plan::digest()
  size_t cases = 0;
  std::string started;         ///< UTC, ISO 8601
  std::string libraries = "";  ///< libraries_digest() of what was tested
};

struct JournalEntry {
  std::string case_id;
  Judgement judgement;
};

/// A results file as it was found.
struct ReadJournal {
  RunHeader header;
  std::vector<JournalEntry> entries;
  bool finished = false;
  uintmax_t whole_bytes = 0;  ///< without a last line that was cut off
};

/// Throws SetupError for a file that is no results file, naming the line. A cut last line is what an
/// interrupted run leaves; it is left out.
ReadJournal read_journal(const std::filesystem::path& file);

/// Writes one results file; holds a lock on it, so that two runs cannot write into one.
class Journal {
 public:
  /// Begins a new file. Throws SetupError where the folder cannot be written or another run holds the file.
  Journal(const std::filesystem::path& file, const RunHeader& header);

  /// Goes on where an interrupted run ended.
  Journal(const std::filesystem::path& file, const ReadJournal& interrupted);

  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// True while another run holds the file.
  static bool is_being_written(const std::filesystem::path& file);

  /// Throws SetupError where the disk is full; what was written before is whole.
  void add(const std::string& case_id, const Judgement& judgement);
  void flush();
  /// The last line: every case has a verdict.
  void finish();

 private:
  void open(const std::filesystem::path& file);
  void write_line(const std::string& text);

  std::filesystem::path file_;
  Descriptor descriptor_;
  std::string buffer_;
};

/// Now, UTC, ISO 8601 to the second.
std::string timestamp();

}  // namespace opgate
