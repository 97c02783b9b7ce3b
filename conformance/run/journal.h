// results.jsonl: a line for the run, a line a verdict as it comes, one for what a call returned, a line at
// the end. Append-only, so that a crash or Ctrl-C loses nothing that was known.
#pragma once

#include <opgate/error.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "checks/facts.h"
#include "checks/verdict.h"
#include "plan/costs.h"
#include "plan/shard.h"

namespace opgate {

/// The first line: which run this is.
struct RunHeader {
  std::string opgate;                                 ///< version
  std::string engine;                                 ///< engine_digest() of what gave the verdicts
  std::string torch;                                  ///< version
  std::string plan;                                   ///< Plan::digest(), of all shards together
  size_t cases = 0;                                   ///< of this shard
  std::string started;                                ///< UTC, ISO 8601
  std::string libraries = "";                         ///< libraries_digest() of what was tested
  Shard shard = {};                                   ///< 1/1: everything
  nlohmann::json filter = {};                         ///< what was asked for: Filter as JSON
  std::string capability = "";                        ///< the vector instructions that torch uses: "AVX512"
  std::map<std::string, SubjectFacts> subjects = {};  ///< that the plan has, by id
  std::string sources = "";                           ///< digest of engine_sources() and the Python half's
  std::map<std::string, std::string> devices = {};    ///< "cuda": "NVIDIA H200"; those that are here
  std::string costs = "";  ///< digest() of what the shards were cut by, if anything

  /// By operator, in ulps, where one is promised.
  std::map<std::string, double> accuracy() const;
  /// What is not the same in another run's header, so that their verdicts cannot stand together: "torch
  /// (2.11.0 and 2.15.0)"; empty where they can. Shards, counts and times may differ.
  std::string difference(const RunHeader& other) const;
};

/// The worst error of a group of cases, and where it was.
struct WorstError {
  std::string case_id;
  double ulps = 0;
};

/// A results file as it was found, without its verdicts.
struct ReadJournal {
  RunHeader header;
  size_t entries = 0;  ///< lines with a verdict
  bool finished = false;
  Costs costs;                ///< of a finished run
  uintmax_t whole_bytes = 0;  ///< without a last line that was cut off
};

/// Takes what a results file says, line by line; what is not set is left out.
struct JournalLines {
  std::function<void(const RunHeader& header)> header = {};
  std::function<void(const std::string& case_id, const Judgement& judgement)> verdict = {};
  std::function<void(const std::string& call_id, const CallFacts& facts)> facts = {};
};

/// Results whose first line says that another version of OpGate wrote them.
class OtherVersion : public SetupError {
  using SetupError::SetupError;
};

/// Reads the file line by line; `take` is given each, and nothing is kept. Throws SetupError for
/// a file that is no results file, naming the line, and OtherVersion for one whose first line has other
/// words. A cut last line is what an interrupted run leaves; it is left out.
ReadJournal read_journal(const std::filesystem::path& file, const JournalLines& take = {});

/// Whether the run that wrote the file came to its end, by its first and last line alone. Throws as
/// read_journal() does.
bool is_finished(const std::filesystem::path& file);

/// What the calls of the finished run in the file took. Throws SetupError where it is unfinished, and as
/// read_journal() does.
Costs read_costs(const std::filesystem::path& file);

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
  void add(std::string_view case_id, const Judgement& judgement);
  void add(std::string_view call_id, const CallFacts& facts);
  void flush();
  /// The last line: every case has a verdict. With it go the worst error of each group of cases, and what the
  /// calls took.
  void finish(const std::vector<WorstError>& worst = {}, const Costs& costs = {});

 private:
  void open(const std::filesystem::path& file);
  void write_line(std::string_view text);

  std::filesystem::path file_;
  Descriptor descriptor_;
  std::string buffer_;
};

/// Now, UTC, ISO 8601 to the second.
std::string timestamp();

}  // namespace opgate
