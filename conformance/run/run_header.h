// The first line of results.jsonl: which run this is, of what, and on which machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/filter.h"
#include "plan/shard.h"
#include "run/python/module_inputs.h"
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
  Filter filter = {};                                 ///< what the user selected
  std::string capability = "";                        ///< the vector instructions that torch uses: "AVX512"
  std::map<std::string, SubjectFacts> subjects = {};  ///< the subjects of the plan, by id
  std::string sources = "";                           ///< digest of the project's modules, and their names
  std::map<std::string, std::string> revisions = {};  ///< revision_of() each check of the plan, by its id
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

}  // namespace opgate
