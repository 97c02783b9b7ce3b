// results.jsonl: one line for the run, one for each verdict as it comes, one for what each call returned,
// and one at the end. The file is append-only, so that a crash or Ctrl-C loses no verdict that was written.
#pragma once

#include <opgate/error.h>
#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/descriptor.h"
#include "plan/costs.h"
#include "run/run_header.h"
#include "run/run_listener.h"

namespace opgate {

/// The worst error of a group of cases, and the case that has it.
struct WorstError {
  std::string case_id;
  double ulps = 0;
};

/// The contents of a results file, without its verdicts.
struct ReadJournal {
  RunHeader header;    ///< of a finished run, without the inputs that it has written itself
  size_t entries = 0;  ///< lines with a verdict
  bool finished = false;
  Costs costs;                ///< of a finished run
  uintmax_t whole_bytes = 0;  ///< length without a last line that was cut off
};

/// Callbacks for the lines of a results file. Those that are not set are skipped.
struct JournalLines {
  std::function<void(const RunHeader& header)> header = {};
  std::function<void(const std::string& case_id, const Judgement& judgement)> verdict = {};
  std::function<void(const std::string& call_id, const CallFacts& facts)> facts = {};
  /// A defect as to_json() has written it, and the text of its finding; these lines come after all verdicts.
  std::function<void(const nlohmann::json& defect)> defect = {};
};

/// Results whose first line says that another version of OpGate wrote them.
class OtherVersion : public SetupError {
  using SetupError::SetupError;
};

/// Reads the file line by line, and passes each line to `take` without keeping it. Throws SetupError,
/// naming the line, for a file that is not a results file, and OtherVersion for one whose first line lacks
/// a key that this version writes. A last line without a newline is what an interrupted run leaves; it is
/// skipped.
ReadJournal read_journal(const std::filesystem::path& file, const JournalLines& take = {});

/// Whether the run that wrote the file came to its end. Reads only the first and the last line. Throws as
/// read_journal() does.
bool is_finished(const std::filesystem::path& file);

/// What the calls of the finished run in the file cost. Throws SetupError if the run is unfinished, and
/// as read_journal() does.
Costs read_costs(const std::filesystem::path& file);

/// Writes one results file, and holds a lock on it, so that two runs cannot write into the same file.
class Journal : public RunListener {
 public:
  /// Begins a new file. Throws SetupError if the folder cannot be written or another run holds the file.
  Journal(const std::filesystem::path& file, const RunHeader& header);

  /// Continues the file of an interrupted run. Throws as above.
  Journal(const std::filesystem::path& file, const ReadJournal& interrupted);

  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// True while another run holds the file.
  static bool is_being_written(const std::filesystem::path& file);

  /// Throw SetupError where the disk is full; the lines that were written before stay whole.
  void add(std::string_view case_id, const Judgement& judgement);
  void add(std::string_view call_id, const CallFacts& facts);
  void flush();

  void on_verdict(const JudgedCase& judged) override { add(judged.id(), judged.judgement); }
  void on_facts(const std::string& call_id, const CallFacts& facts) override { add(call_id, facts); }
  void on_progress(const std::vector<std::string>& /*current*/) override { flush(); }

  /// Writes the last line, which says that every case has a verdict. It holds the worst error of each group
  /// of cases, what the calls cost, and which inputs of the modules the run itself has `written`. Before it
  /// come `lines`: what all verdicts together show.
  void finish(const std::vector<WorstError>& worst, const Costs& costs,
              const std::vector<nlohmann::json>& lines, const std::vector<std::string>& written = {});
  void finish(const std::vector<WorstError>& worst = {}, const Costs& costs = {});

 private:
  void open(const std::filesystem::path& file);
  void write_line(std::string_view text);

  std::filesystem::path file_;
  Descriptor descriptor_;
  std::string buffer_;
};

}  // namespace opgate
