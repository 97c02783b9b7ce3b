// results.jsonl: one line for the run, one for each verdict as it comes, one for what each call returned,
// and one at the end. The file is append-only, so that a crash or Ctrl-C loses no verdict that was written.
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
#include "judging/calls/call_facts.h"
#include "judging/verdict.h"
#include "plan/costs.h"
#include "plan/shard.h"
#include "provenance/digests.h"
#include "run/module_inputs.h"
#include "run/run_listener.h"
#include "spec/coverage.h"
#include "spec/subject_facts.h"

namespace opgate {

/// The Python modules with specs and models that a run read.
struct ModulesRead {
  std::vector<std::string> listed;           ///< those that opgate.toml lists
  std::map<std::string, std::string> files;  ///< by name: PythonCatalog::modules
};

/// The first line: which run this is.
struct RunHeader {
  std::string opgate;                                 ///< version
  std::string engine;                                 ///< engine_digest() at the time of the run
  std::string torch;                                  ///< version
  std::string plan;                                   ///< Plan::digest(), of all shards together
  size_t cases = 0;                                   ///< number of cases in this shard
  std::string started;                                ///< UTC, ISO 8601
  std::string libraries = "";                         ///< libraries_digest() of what was tested
  Shard shard = {};                                   ///< 1/1: everything
  nlohmann::json filter = {};                         ///< what the user selected: Filter as JSON
  std::string capability = "";                        ///< the vector instructions that torch uses: "AVX512"
  std::map<std::string, SubjectFacts> subjects = {};  ///< the subjects of the plan, by id
  std::string sources = "";                           ///< digest of engine_sources() and the Python half's
  std::map<std::string, std::string> devices = {};    ///< devices of this machine; "cuda": "NVIDIA H200"
  std::string costs = "";  ///< digest() of the costs by which the plan was sharded; empty without --costs
  std::string samples =
      "";  ///< the file of samples that were run instead of the specs'; empty without --samples

  std::map<std::string, std::string> files = {};  ///< digests_of_files() of what was tested
  Coverage coverage = {};                         ///< of all operators, whichever the filter selects
  std::string folder = "";                        ///< of opgate.toml; `files` below it are the project's own
  ModulesRead modules = {};                       ///< their digests are in `files`
  ModuleInputs inputs = {};                       ///< what those modules read

  /// The promised accuracy in ulps, by operator, where an operator promises one.
  std::map<std::string, double> accuracy() const;
  /// The ids of subjects that are operators, by name: "mine::scale", as a schema begins.
  std::map<std::string, std::string> ids_of_operators() const;
  /// The first difference from another run's header that keeps their verdicts from being merged: "torch
  /// (2.11.0 and 2.15.0)"; empty if they can be merged. Shards, counts and times may differ.
  std::string difference(const RunHeader& other) const;
};

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
  void finish(const std::vector<WorstError>& worst = {}, const Costs& costs = {},
              const std::vector<nlohmann::json>& lines = {}, const std::vector<std::string>& written = {});

 private:
  void open(const std::filesystem::path& file);
  void write_line(std::string_view text);

  std::filesystem::path file_;
  Descriptor descriptor_;
  std::string buffer_;
};

}  // namespace opgate
