#include "bench/copy_speed.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cstring>

#include "bench/measure.h"
#include "bench/stopwatch.h"

namespace opgate {
namespace {

constexpr int64_t kGrain = 1 << 17;  // the fewest bytes for which a second thread pays
constexpr Effort kEffort{.rounds = 11, .warm_seconds = 0.02};

void copy_bytes(const at::Tensor& from, const at::Tensor& to) {
  if (!from.is_cpu()) {
    to.copy_(from);
    return;
  }
  const auto* const source = static_cast<const std::byte*>(from.const_data_ptr());
  auto* const target = static_cast<std::byte*>(to.mutable_data_ptr());
  at::parallel_for(0, from.numel(), kGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
  });
}

double measured(int64_t bytes, c10::DeviceType device) {
  // The source is filled, because pages that were never written all map to a single page of zeros.
  const at::Tensor from =
      at::full({std::max<int64_t>(bytes / 2, 1)}, 1, at::TensorOptions(device).dtype(c10::kByte));
  const at::Tensor to = at::empty_like(from);
  return seconds_per_call(
      [&](int64_t calls) {
        return seconds_of(device, [&] {
          for (int64_t call = 0; call < calls; ++call) copy_bytes(from, to);
        });
      },
      kEffort);
}

}  // namespace

double CopySpeed::seconds(int64_t bytes, c10::DeviceType device) {
  double& seconds = known_[{bytes, device, at::get_num_threads()}];
  if (seconds == 0) seconds = measured(bytes, device);
  return seconds;
}

double CopySpeed::seconds_again(int64_t bytes, c10::DeviceType device) {
  double& seconds = known_[{bytes, device, at::get_num_threads()}];
  const double now = measured(bytes, device);
  seconds = seconds == 0 ? now : std::min(seconds, now);
  return seconds;
}

}  // namespace opgate
