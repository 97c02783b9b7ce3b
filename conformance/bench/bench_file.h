// bench.jsonl: one line for the run, one for each case, and one at the end. Each line is in the file before
// the next case begins.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <fstream>

#include "bench/run_benches.h"

namespace opgate {

class BenchFile {
 public:
  /// Replaces the file, and writes `header` as its first line. Throws SetupError if it cannot write.
  BenchFile(const std::filesystem::path& file, const nlohmann::json& header);

  /// Writes the line of one case. Throws SetupError if the disk is full.
  void add(const BenchCase& measured, const BenchResult& result);

  /// Writes the last line, which says that every case has a result. Throws SetupError.
  void finish();

 private:
  void write(const nlohmann::json& line);

  std::filesystem::path file_;
  std::ofstream stream_;
};

}  // namespace opgate
