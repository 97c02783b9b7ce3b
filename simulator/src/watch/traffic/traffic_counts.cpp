#include "watch/traffic/traffic_counts.h"

#include <algorithm>
#include <array>

namespace opgate::simulator {
namespace traffic_counts {

constexpr std::uint64_t kSector = 32;  // bytes
constexpr std::uint64_t kBanks = 32;
constexpr std::uint64_t kWord = 4;  // bytes of one bank

std::uint64_t in_whole(std::uint64_t count, std::uint64_t unit) { return (count + unit - 1) / unit; }

void keep_distinct(std::vector<std::uint64_t>& numbers) {
  std::ranges::sort(numbers);
  const auto rest = std::ranges::unique(numbers);
  numbers.erase(rest.begin(), rest.end());
}

// One pass reads or writes a word of each bank. As many passes as the words need in any case are not extra.
std::uint64_t extra_passes(const std::vector<std::uint64_t>& words) {
  std::array<std::uint64_t, kBanks> of_bank{};
  for (const std::uint64_t word : words) ++of_bank[word % kBanks];
  return std::ranges::max(of_bank) - in_whole(words.size(), kBanks);
}

}  // namespace traffic_counts

void TrafficCounts::add(const TrafficCounts& other) {
  sectors += other.sectors;
  enough_sectors += other.enough_sectors;
  extra_passes += other.extra_passes;
}

TrafficCounts traffic_of(Space space, unsigned bytes, std::vector<std::uint64_t> addresses) {
  traffic_counts::keep_distinct(addresses);
  const std::uint64_t unit = space == Space::global ? traffic_counts::kSector : traffic_counts::kWord;
  // Addresses are multiples of the bytes, so that accesses do not overlap.
  std::vector<std::uint64_t> units;
  for (const std::uint64_t address : addresses) {
    for (std::uint64_t at = address / unit; at <= (address + bytes - 1) / unit; ++at) units.push_back(at);
  }
  traffic_counts::keep_distinct(units);
  TrafficCounts counts;
  if (space == Space::global) {
    counts.sectors = units.size();
    counts.enough_sectors = traffic_counts::in_whole(addresses.size() * bytes, unit);
  } else {
    counts.extra_passes = traffic_counts::extra_passes(units);
  }
  return counts;
}

}  // namespace opgate::simulator
