#include "machine/memory/late_stores.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace opgate::simulator {
namespace late_stores {

constexpr std::uintptr_t kWord = 4;
// A block that stores to more places stores to most of the others at once, which takes less time.
constexpr std::size_t kFewOfBlock = 64;
constexpr std::size_t kMostOfBlock = 256;
// In the time of a turn that ends its block.
constexpr std::uint64_t kLongRun = 16;

std::uintptr_t number_of(const unsigned char* at) { return reinterpret_cast<std::uintptr_t>(at); }

unsigned char* place_of(std::uintptr_t number) { return reinterpret_cast<unsigned char*>(number); }

template <class Visit>
void for_each_word(std::uintptr_t begin, std::size_t bytes, Visit visit) {
  for (std::uintptr_t word = begin / kWord; word <= (begin + bytes - 1) / kWord; ++word) visit(word);
}

}  // namespace late_stores

LateStores::LateStores(std::uint64_t seed, std::uint64_t launch) {
  std::seed_seq both{seed, seed >> 32, launch, launch >> 32};
  random_.seed(both);
}

LateStores::~LateStores() {
  if (running_ != nullptr) make_visible();
  for (auto& [block, buffer] : buffers_) exchange_views(buffer);
}

void LateStores::exchange_views(Buffer& buffer) {
  for (auto& [begin, late] : buffer.stores) {
    unsigned char* const place = late_stores::place_of(begin);
    std::swap_ranges(place, place + late.bytes, late.hidden.begin());
  }
}

void LateStores::begin_turn(std::uint32_t block) {
  block_ = block;
  running_ = &buffers_[block];
  turn_began_ = now_;
  exchange_views(*running_);
}

void LateStores::let_time_pass() {
  now_ += late_stores::kLongRun;
  settle_due();
}

void LateStores::end_turn() {
  ++now_;
  exchange_views(*running_);
  begin_delays(*running_);
  running_ = nullptr;
  settle_due();
}

// The turn in which something was stored is no delay.
void LateStores::begin_delays(Buffer& buffer) {
  buffer.next_due = ~std::uint64_t{0};
  for (auto& [begin, late] : buffer.stores) {
    if (std::exchange(late.is_of_this_turn, false)) late.due += now_ - turn_began_;
    buffer.next_due = std::min(buffer.next_due, late.due);
  }
}

// Some are visible at once, and the others after very different times: so that a signal may overtake the data
// before it, and so that what one block has stored may be late for all others of a large launch.
std::uint64_t LateStores::draw_delay(bool is_strong) {
  using namespace late_stores;
  constexpr std::uint64_t kAtOnce = 3;
  constexpr std::uint64_t kLate = 8;
  constexpr std::uint64_t kOneOf = 8;
  const std::size_t known = running_->stores.size();
  if (known >= kMostOfBlock) return 0;
  const std::uint64_t drawn = random_();
  if (known >= kFewOfBlock && (drawn >> 16) % kOneOf != 0) return 0;
  const std::uint64_t kind = drawn % (kAtOnce + kLate);
  if (kind < kAtOnce) return 0;
  if (is_strong) return 1 + (drawn >> 32) % kLongRun;
  const std::uint64_t least = std::uint64_t{1} << (kind - kAtOnce);
  return least + (drawn >> 32) % least;
}

void LateStores::store(unsigned char* to, std::size_t bytes, bool is_strong) {
  using namespace late_stores;
  make_visible_of_others(to, bytes);
  const std::uint64_t delay = draw_delay(is_strong);
  const bool is_known = is_any_owned(to, bytes);
  if (!is_known && delay == 0) return;
  auto& stores = running_->stores;
  const std::uintptr_t begin = number_of(to);
  const auto behind = stores.upper_bound(begin);
  if (is_known && behind != stores.begin()) {
    const auto& [before, late] = *std::prev(behind);
    if (before + late.bytes >= begin + bytes) return;
  }
  auto part = stores.lower_bound(begin);
  const bool has_parts = part != stores.end() && part->first < begin + bytes;
  if (!has_parts && delay == 0) return;
  Late late;
  late.bytes = static_cast<std::uint8_t>(bytes);
  late.due = turn_began_ + delay;
  std::memcpy(late.hidden.data(), to, bytes);
  while (part != stores.end() && part->first < begin + bytes) {
    std::memcpy(late.hidden.data() + (part->first - begin), part->second.hidden.data(), part->second.bytes);
    part = stores.erase(part);
  }
  stores.emplace_hint(part, begin, late);
  for_each_word(begin, bytes, [&](std::uintptr_t word) { owners_[word] = block_; });
}

bool LateStores::is_any_owned(const unsigned char* at, std::size_t bytes) const {
  bool is_owned = false;
  late_stores::for_each_word(late_stores::number_of(at), bytes,
                             [&](std::uintptr_t word) { is_owned |= owners_.contains(word); });
  return is_owned;
}

void LateStores::make_visible() {
  for (const auto& [begin, late] : running_->stores) {
    late_stores::for_each_word(begin, late.bytes, [&](std::uintptr_t word) { owners_.erase(word); });
  }
  running_->stores.clear();
}

// What two blocks store to one place becomes visible in the order in which they have stored it.
void LateStores::make_visible_of_others(unsigned char* at, std::size_t bytes) {
  if (owners_.empty()) return;
  late_stores::for_each_word(late_stores::number_of(at), bytes, [&](std::uintptr_t word) {
    const auto owner = owners_.find(word);
    if (owner != owners_.end() && owner->second != block_)
      make_visible(owner->second, late_stores::place_of(word * late_stores::kWord), late_stores::kWord);
  });
}

void LateStores::make_visible(std::uint32_t block, unsigned char* at, std::size_t bytes) {
  Buffer& buffer = buffers_.at(block);
  const std::uintptr_t begin = late_stores::number_of(at);
  auto next = buffer.stores.upper_bound(begin);
  if (next != buffer.stores.begin()) --next;
  while (next != buffer.stores.end() && next->first < begin + bytes) {
    const auto [place, late] = *next;
    if (place + late.bytes <= begin) {
      ++next;
      continue;
    }
    if (&buffer != running_) std::memcpy(late_stores::place_of(place), late.hidden.data(), late.bytes);
    next = buffer.stores.erase(next);
    forget_words_of(buffer, place, late.bytes);
  }
}

// For stores that have left the buffer. A word may hold others.
void LateStores::forget_words_of(const Buffer& buffer, std::uintptr_t begin, std::size_t bytes) {
  using late_stores::kWord;
  late_stores::for_each_word(begin, bytes, [&](std::uintptr_t word) {
    const auto left = buffer.stores.lower_bound(word * kWord);
    if (left == buffer.stores.end() || left->first >= (word + 1) * kWord) owners_.erase(word);
  });
}

void LateStores::settle_due() {
  for (auto buffer = buffers_.begin(); buffer != buffers_.end();) {
    if (&buffer->second == running_) {
      ++buffer;
      continue;
    }
    auto& stores = buffer->second.stores;
    if (buffer->second.next_due <= now_) {
      std::uint64_t next_due = ~std::uint64_t{0};
      for (auto next = stores.begin(); next != stores.end();) {
        const auto [place, late] = *next;
        if (late.due > now_) {
          next_due = std::min(next_due, late.due);
          ++next;
          continue;
        }
        std::memcpy(late_stores::place_of(place), late.hidden.data(), late.bytes);
        next = stores.erase(next);
        forget_words_of(buffer->second, place, late.bytes);
      }
      buffer->second.next_due = next_due;
    }
    buffer = stores.empty() ? buffers_.erase(buffer) : std::next(buffer);
  }
}

}  // namespace opgate::simulator
