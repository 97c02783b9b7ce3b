#include "bench/run_benches.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <opgate/error.h>

#include <set>

#include "bench/benchmark_pair.h"
#include "bench/copy_speed.h"
#include "device/device.h"

namespace opgate {
namespace {

constexpr int kCopiesBeforeAccusing = 3;

BenchResult::Verdict verdict_of(const Measurement& measured, std::optional<double> limit) {
  if (!limit) return BenchResult::Verdict::measured;
  switch (judge_speed(measured.interval, *limit)) {
    case Speed::met:
      return BenchResult::Verdict::met;
    case Speed::missed:
      return BenchResult::Verdict::missed;
    case Speed::unclear:
      break;
  }
  return BenchResult::Verdict::unclear;
}

class Runner {
 public:
  Runner(const Effort& effort, const BenchEvents& events) : effort_(effort), events_(events) {}

  void run(const BenchCase& current) {
    const auto missing = missing_device(current.device);
    const BenchResult result =
        missing ? BenchResult{BenchResult::Verdict::owed, *missing} : measured(current);
    ++done_;
    events_.on_result(current, result);
  }

 private:
  BenchResult measured(const BenchCase& current) {
    if (current.threads > 0) at::set_num_threads(current.threads);
    try {
      prepare(current);
      const Measurement measurement = measure(
          contest_->op, contest_->baseline, effort_, current.limit(),
          [&] { events_.on_round(done_, current); }, contest_->rounds);
      BenchResult result{verdict_of(measurement, current.limit())};
      result.measured = measurement;
      result.bytes = contest_->bytes;
      if (result.bytes > 0) result.copy_seconds = copies_.seconds(result.bytes, current.device);
      demand_possible(result, current.device);
      return result;
    } catch (const WrongAnswer& error) {
      return {BenchResult::Verdict::wrong, error.what()};
    } catch (const ContenderRaised& error) {
      return {BenchResult::Verdict::raised, error.what()};
    } catch (const SpecError& error) {  // the baseline does not exist, or memory is too small
      return {BenchResult::Verdict::raised, error.what(), /*names_place=*/true};
    } catch (const c10::Error& error) {  // such as from memory that the copies of results lack
      return {BenchResult::Verdict::raised, std::string("OpGate itself failed while it compared results: ") +
                                                error.what_without_backtrace()};
    }
  }

  // Throws WrongAnswer if the operator would have written its results much faster than this machine can copy.
  // Before that, the copy is timed again: another program may have slowed it down.
  void demand_possible(BenchResult& result, c10::DeviceType device) {
    if (!result.copy_seconds || contest_->written_bytes == 0) return;
    const double written = static_cast<double>(contest_->written_bytes) / result.measured->op_seconds;
    const auto copied = [&] { return static_cast<double>(result.bytes) / *result.copy_seconds; };
    for (int again = 0; again < kCopiesBeforeAccusing && written > kMostOfCopySpeed * copied(); ++again)
      result.copy_seconds = copies_.seconds_again(result.bytes, device);
    if (written <= kMostOfCopySpeed * copied()) return;
    throw WrongAnswer(
        fmt::format("a call would write its results at {:.3g} GB/s, {:.0f} times the speed of a plain copy "
                    "on this machine ({:.3g} GB/s): it does not write them",
                    written / 1e9, written / copied(), copied() / 1e9));
  }

  // Cases that differ only in the number of threads share the arguments and the comparison of results.
  void prepare(const BenchCase& current) {
    if (contest_ && prepared_.same_pair(current)) return;
    contest_.reset();  // frees its tensors before the next ones are made
    events_.on_round(done_, current);
    contest_ = benchmark_pair_of(current, values_);
    prepared_ = current;
  }

  const Effort& effort_;
  const BenchEvents& events_;
  ValueCache values_;
  CopySpeed copies_;
  std::optional<BenchmarkPair> contest_;
  BenchCase prepared_;
  size_t done_ = 0;
};

class ThreadCount {
 public:
  ThreadCount() = default;
  ~ThreadCount() { at::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_ = at::get_num_threads();
};

}  // namespace

double BenchResult::gigabytes_per_second() const {
  return static_cast<double>(bytes) / measured->op_seconds / 1e9;
}

double BenchResult::share_of_copy_speed() const { return *copy_seconds / measured->op_seconds; }

bool BenchResult::is_accepted() const {
  return verdict != BenchResult::Verdict::missed && verdict != BenchResult::Verdict::wrong &&
         verdict != BenchResult::Verdict::raised;
}

std::string_view to_string(BenchResult::Verdict verdict) {
  switch (verdict) {
    case BenchResult::Verdict::met:
      return "met";
    case BenchResult::Verdict::missed:
      return "missed";
    case BenchResult::Verdict::unclear:
      return "unclear";
    case BenchResult::Verdict::measured:
      return "measured";
    case BenchResult::Verdict::owed:
      return "owed";
    case BenchResult::Verdict::wrong:
      return "wrong answer";
    case BenchResult::Verdict::raised:
      return "raised";
  }
  return "";
}

void run_benches(const std::vector<BenchCase>& cases, const Effort& effort, const BenchEvents& events) {
  // Devices are enabled before the first call, because autograd's engine starts its threads for the devices
  // that it finds then.
  std::set<c10::DeviceType> devices;
  for (const BenchCase& bench : cases) devices.insert(bench.device);
  for (const c10::DeviceType device : devices) {
    if (!missing_device(device)) enable_device(device, DeviceAllocator::plain);
  }
  const ThreadCount as_before;
  Runner runner(effort, events);
  for (const BenchCase& bench : cases) runner.run(bench);
}

}  // namespace opgate
