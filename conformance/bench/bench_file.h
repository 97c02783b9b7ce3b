// bench.jsonl: a line for the run, a line a case as it comes, a line at the end; each is in the file before
// the next case begins.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <fstream>

#include "bench/run_benches.h"

namespace opgate {

class BenchFile {
 public:
  /// Begins the file anew, with `header` as its first line. Throws SetupError where it cannot be written.
  BenchFile(const std::filesystem::path& file, const nlohmann::json& header);

  /// Throws SetupError where the disk is full.
  void add(const BenchCase& measured, const BenchResult& result);

  /// The last line: every case has a result.
  void finish();

 private:
  void write(const nlohmann::json& line);

  std::filesystem::path file_;
  std::ofstream stream_;
};

}  // namespace opgate
