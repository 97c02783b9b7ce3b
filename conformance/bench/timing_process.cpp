#include "bench/timing_process.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "base/errors.h"
#include "bench/benchmark_pair.h"
#include "device/device.h"
#include "process/interrupt.h"
#include "process/line_reader.h"

namespace opgate {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kSilence{60};
constexpr int kTimerPollMilliseconds = 200;
constexpr std::chrono::milliseconds kTimerShutdownTimeout{2000};
constexpr size_t kTimerLogLines = 4;

void answer_with(const json& message) {
  answer_line(message.dump(-1, ' ', false, json::error_handler_t::replace));
}

class Stopwatch {
 public:
  explicit Stopwatch(const std::vector<BenchCase>& benches) : benches_(benches) {}

  json open(const std::string& name) {
    const auto bench = std::ranges::find(benches_, name, describe);
    if (bench == benches_.end()) return {{"failed", "there is no bench " + name}};
    if (bench->threads > 0) at::set_num_threads(bench->threads);
    contest_.reset();  // frees its tensors before the next ones are made
    contest_ = benchmark_pair_of(*bench, values_);
    return {{"opened", name}};
  }

  json time(int64_t calls) const { return {{"seconds", contest_.value().op(calls)}}; }

 private:
  const std::vector<BenchCase>& benches_;
  ValueCache values_;
  std::optional<BenchmarkPair> contest_;
};

json answer_to(Stopwatch& stopwatch, const json& question) {
  try {
    if (question.contains("open")) return stopwatch.open(question.at("open"));
    return stopwatch.time(question.at("calls"));
  } catch (const WrongAnswer& error) {
    return {{"failed", error.what()}};
  } catch (const ContenderRaised& error) {
    return {{"failed", error.what()}};
  } catch (const SpecError& error) {  // the baseline does not exist, or memory is too small
    return {{"failed", error.what()}};
  }
}

}  // namespace

int serve_as_stopwatch(std::vector<BenchCase> benches) {
  end_with_parent();
  std::erase_if(benches, [](const BenchCase& bench) { return missing_device(bench.device).has_value(); });
  std::vector<std::string> names;
  for (const BenchCase& bench : benches) {
    enable_device(bench.device, DeviceAllocator::plain);  // before the first call: autograd looks only once
    names.push_back(describe(bench));
  }
  answer_with({{"benches", names}});
  Stopwatch stopwatch(benches);
  LineReader commands(STDIN_FILENO);
  while (const auto line = commands.next()) answer_with(answer_to(stopwatch, json::parse(*line)));
  return 0;
}

StopwatchProcess::StopwatchProcess(const Command& command, const std::filesystem::path& log)
    : child_(command, log), log_(log) {
  answer().at("benches").get_to(benches_);
}

json StopwatchProcess::answer() {
  const auto deadline = steady_clock::now() + kSilence;
  std::vector<std::string> lines;
  bool open = true;
  while (open && lines.empty() && steady_clock::now() < deadline) {
    pollfd waiting{child_.answers(), POLLIN, 0};
    poll(&waiting, 1, kTimerPollMilliseconds);
    if (interrupted()) throw Interrupted();
    if (waiting.revents != 0) open = child_.receive(lines);
  }
  if (!lines.empty()) return json::parse(lines.front());
  const std::string how =
      open ? fmt::format("no answer for {} s", kSilence.count()) : ending(child_.end(kTimerShutdownTimeout));
  throw setup_error("speeds cannot be compared: {}: {}; see {}", how,
                    fmt::join(child_.last_printed(kTimerLogLines), " | "), log_.string());
}

json StopwatchProcess::ask(const json& question) {
  child_.send(question.dump());
  json said = answer();
  if (said.contains("failed")) throw ContenderRaised(said.at("failed").get<std::string>());
  return said;
}

void StopwatchProcess::open(const std::string& bench) { ask({{"open", bench}}); }

double StopwatchProcess::seconds_of(int64_t calls) { return ask({{"calls", calls}}).at("seconds"); }

}  // namespace opgate
