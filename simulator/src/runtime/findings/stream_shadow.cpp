#include "runtime/findings/stream_shadow.h"

#include <algorithm>
#include <iterator>

namespace opgate::simulator {
namespace stream_shadow {

bool comes_before(const StreamAccess& before, const StreamAccess& access, const StreamClock& known) {
  if (before.position == 0 || before.stream == access.stream) return true;
  const auto found = known.find(before.stream);
  return found != known.end() && before.position <= found->second;
}

}  // namespace stream_shadow

// Afterwards no segment lies on both sides of the address.
void StreamShadow::split(std::uint64_t address) {
  const auto next = segments_.lower_bound(address);
  if (next == segments_.begin()) return;
  Segment& segment = std::prev(next)->second;
  if (segment.end <= address) return;
  segments_.emplace_hint(next, address, segment);
  segment.end = address;
}

void StreamShadow::fill_gaps(std::uint64_t begin, std::uint64_t end) {
  auto next = segments_.lower_bound(begin);
  while (begin < end) {
    if (next == segments_.end() || next->first > begin) {
      const std::uint64_t gap_end = next == segments_.end() ? end : std::min(end, next->first);
      next = segments_.emplace_hint(next, begin, Segment{gap_end, {}, {}});
    }
    begin = next->second.end;
    ++next;
  }
}

void StreamShadow::access(const StreamAccess& access, const StreamClock& known, std::uint64_t begin,
                          std::size_t bytes, const Report& report) {
  if (bytes == 0) return;
  const std::uint64_t end = begin + bytes;
  split(begin);
  split(end);
  fill_gaps(begin, end);
  const auto first = segments_.lower_bound(begin);
  const auto last = segments_.lower_bound(end);
  for (auto segment = first; segment != last; ++segment) {
    auto& [segment_end, write, reads] = segment->second;
    const auto look_at = [&](const StreamAccess& before) {
      if (before.is_strong && access.is_strong) return;
      if (!stream_shadow::comes_before(before, access, known))
        report(before, segment->first, segment_end - segment->first);
    };
    look_at(write);
    if (access.writes) {
      for (const StreamAccess& read : reads) look_at(read);
      continue;
    }
    // What comes after this read comes after those that come before it.
    std::erase_if(reads,
                  [&](const StreamAccess& read) { return stream_shadow::comes_before(read, access, known); });
    reads.push_back(access);
  }
  if (!access.writes) return;
  segments_.erase(first, last);
  segments_.emplace(begin, Segment{end, access, {}});
}

void StreamShadow::forget(std::uint64_t begin, std::size_t bytes) {
  split(begin);
  split(begin + bytes);
  segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(begin + bytes));
}

}  // namespace opgate::simulator
