#include "bench/bench_file.h"

#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "base/files/files.h"
#include "base/text.h"
#include "inputs/call_key.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using nlohmann::json;

json to_line(const BenchCase& measured, const BenchResult& result) {
  json line{{"op", measured.spec->id},
            {"bench", measured.bench->sample.name},
            {"dtype", dtype_name(measured.bench->dtype)},
            {"direction", to_string(measured.direction)},
            {"device", device_name(measured.device)},
            {"verdict", to_string(result.verdict)}};
  if (measured.threads > 0) line["threads"] = measured.threads;
  if (measured.limit()) line["limit"] = *measured.limit();
  if (!result.reason.empty()) line["reason"] = result.reason;
  if (!result.measured) return line;
  const Measurement& figures = *result.measured;
  line["ratio"] = figures.ratio;
  line["interval"] = {figures.interval.low, figures.interval.high};
  line["rounds"] = figures.rounds;
  line["op_seconds"] = figures.op_seconds;
  line["baseline_seconds"] = figures.baseline_seconds;
  line["bytes"] = result.bytes;
  if (result.copy_seconds) line["copy_seconds"] = *result.copy_seconds;
  return line;
}

constexpr std::string_view kBenchRemedy = "name another file with --json";

}  // namespace

BenchFile::BenchFile(const std::filesystem::path& file, const json& header) : file_(file) {
  std::error_code error;  // opening the file reports the error
  std::filesystem::create_directories(file.parent_path(), error);
  stream_.open(file, std::ios::trunc);
  if (!stream_) throw cannot_write(file, kBenchRemedy);
  write(header);
}

void BenchFile::add(const BenchCase& measured, const BenchResult& result) {
  write(to_line(measured, result));
}

void BenchFile::finish() { write({{"finished", timestamp()}}); }

void BenchFile::write(const json& line) {
  stream_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  if (!stream_) throw cannot_write(file_, kBenchRemedy);
}

}  // namespace opgate
