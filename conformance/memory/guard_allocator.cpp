#include "memory/guard_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "memory/device_memory.h"
#include "memory/guard_pages.h"

namespace opgate {
namespace {

constexpr size_t kAlignment = 64;  // as torch's own allocator; vector loads rely on it
constexpr size_t kZone = 1024;
constexpr size_t kWideZone = size_t{64} << 10;
// In a block larger than this, only the edges are filled, so that unused pages are not touched.
constexpr size_t kFilledWhole = size_t{64} << 20;
constexpr size_t kEdge = size_t{64} << 10;
// Freed blocks stay in quarantine for a while before they are used again. The total is small enough to stay
// in a CPU cache.
constexpr size_t kQuarantineBytes = size_t{2} << 20;
constexpr size_t kQuarantineBlock = size_t{512} << 10;
// After the quarantine, blocks are kept for requests of the same size, because malloc is slow for blocks of
// some KiB.
constexpr size_t kSpareBytes = size_t{2} << 20;

using ZoneImage = std::array<std::byte, kZone>;

const std::byte* zone_of(std::byte value) {
  // The images are never destroyed, because the allocator is not.
  static const auto& images = *[] {
    auto* const all = new std::array<ZoneImage, 256>;
    for (size_t i = 0; i < all->size(); ++i) (*all)[i].fill(static_cast<std::byte>(i));
    return all;
  }();
  return images[std::to_integer<size_t>(value)].data();
}

// A block on the heap is laid out as header, red zone, the block's bytes, red zone. The headers of other
// places are allocated separately.
struct alignas(kAlignment) Header {
  Block block;
  Header* earlier;
  Header* later;
  Poison poison;
  Place place;
  size_t zone;        // bytes of each red zone
  uint64_t freed_at;  // the next serial when the block was freed

  std::byte* data() const { return static_cast<std::byte*>(const_cast<void*>(block.data)); }
  std::byte* front() const { return data() - zone; }
  std::byte* back() const { return data() + block.bytes; }
};

constexpr size_t kBefore = sizeof(Header) + kZone;

void fill(std::byte* data, size_t bytes, std::byte value) {
  if (bytes <= kFilledWhole) {
    std::memset(data, std::to_integer<int>(value), bytes);
  } else {
    std::memset(data, std::to_integer<int>(value), kEdge);
    std::memset(data + bytes - kEdge, std::to_integer<int>(value), kEdge);
  }
}

bool all_are(const std::byte* data, size_t bytes, std::byte value) {
  // The bytes are compared with the image of a zone, in pieces of that size.
  for (size_t at = 0; at < bytes; at += kZone) {
    if (std::memcmp(data + at, zone_of(value), std::min(kZone, bytes - at)) != 0) return false;
  }
  return true;
}

// Returns the position of the first byte that is not `value`, and the number of such bytes.
std::optional<std::pair<std::ptrdiff_t, size_t>> changed(const std::byte* data, size_t bytes,
                                                         std::byte value) {
  if (all_are(data, bytes, value)) return std::nullopt;
  const std::byte* const first = std::find_if(data, data + bytes, [&](std::byte b) { return b != value; });
  const auto count = std::count_if(first, data + bytes, [&](std::byte b) { return b != value; });
  return std::pair{first - data, static_cast<size_t>(count)};
}

class GuardAllocator final : public c10::Allocator {
 public:
  static GuardAllocator& instance() {
    // The allocator is never destroyed, because tensors in static storage are freed after everything else.
    static auto* const only = new GuardAllocator;
    return *only;
  }

  c10::DataPtr allocate(size_t bytes) override {
    const size_t limit = limit_.load(std::memory_order_relaxed);
    TORCH_CHECK(limit == 0 || bytes <= limit, "an allocation of ", bytes, " bytes is refused: the limit is ",
                limit, " bytes");
    // Zero bytes get a null pointer, as from torch's own allocator.
    void* const data = bytes == 0 ? nullptr : make(bytes);
    return {data, data, &GuardAllocator::give_back, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &GuardAllocator::give_back; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  void use(const Poison& poison, Place place) {
    const std::lock_guard lock(mutex_);
    poison_ = poison;
    place_ = place;
  }

  void refuse_above(size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

  uint64_t next_serial() {
    const std::lock_guard lock(mutex_);
    return serial_;
  }

  uint64_t take_serial() {
    const std::lock_guard lock(mutex_);
    return serial_++;
  }

  std::vector<Block> alive_since(uint64_t serial) {
    const std::lock_guard lock(mutex_);
    std::vector<Block> blocks;
    for (Header* h = latest_; h != nullptr && h->block.serial >= serial; h = h->earlier)
      blocks.push_back(h->block);
    return blocks;
  }

  std::vector<Damage> take_damage_since(uint64_t serial) {
    const std::lock_guard lock(mutex_);
    for (Header* h = latest_; h != nullptr && h->block.serial >= serial; h = h->earlier) inspect(*h);
    // A block with this serial or a later one was freed at this serial or later, so the search can stop
    // early.
    for (auto h = quarantine_.rbegin(); h != quarantine_.rend() && (*h)->freed_at >= serial; ++h) {
      if ((*h)->block.serial >= serial) inspect_freed(**h);
    }
    std::vector<Damage> found;
    std::ranges::copy_if(damage_, std::back_inserter(found),
                         [&](const Damage& d) { return d.block.serial >= serial; });
    damage_.clear();
    return found;
  }

  void release_freed() {
    const std::lock_guard lock(mutex_);
    while (!quarantine_.empty()) release_oldest();
    for (auto& [whole, blocks] : spare_) {
      for (void* const memory : blocks) std::free(memory);
    }
    spare_.clear();
    spare_bytes_ = 0;
  }

  Block block_of(const void* data) {
    const std::lock_guard lock(mutex_);
    for (Header* h = latest_; h != nullptr; h = h->earlier) {
      if (data >= h->data() && data < h->back()) return h->block;
    }
    return {nullptr, 0, 0};
  }

 private:
  void* make(size_t bytes) {
    const std::lock_guard lock(mutex_);
    Header* const header = place_ == Place::heap        ? on_heap(bytes)
                           : place_ == Place::far_apart ? far_apart(bytes)
                                                        : beside_page(bytes);
    header->block.bytes = bytes;
    header->block.serial = serial_++;
    header->poison = poison_;
    header->place = place_;
    header->earlier = latest_;
    header->later = nullptr;
    if (latest_ != nullptr) latest_->later = header;
    latest_ = header;
    std::memset(header->front(), std::to_integer<int>(poison_.zone), header->zone);
    std::memset(header->back(), std::to_integer<int>(poison_.zone), header->zone);
    fill(header->data(), bytes, poison_.fresh);
    return header->data();
  }

  static size_t whole_size(size_t bytes) {
    return (kBefore + bytes + kZone + kAlignment - 1) / kAlignment * kAlignment;
  }

  void* spare(size_t whole) {
    const auto found = spare_.find(whole);
    if (found == spare_.end() || found->second.empty()) return nullptr;
    void* const memory = found->second.back();
    found->second.pop_back();
    spare_bytes_ -= whole;
    return memory;
  }

  Header* on_heap(size_t bytes) {
    const size_t whole = whole_size(bytes);
    if (whole < bytes) throw std::bad_alloc();
    void* const found = spare(whole);
    auto* const memory =
        static_cast<std::byte*>(found != nullptr ? found : std::aligned_alloc(kAlignment, whole));
    if (memory == nullptr) throw std::bad_alloc();
    auto* const header = new (memory) Header{};
    header->block.data = memory + kBefore;
    header->zone = kZone;
    return header;
  }

  Header* far_apart(size_t bytes) {
    const size_t whole = (kWideZone + bytes + kWideZone + kAlignment - 1) / kAlignment * kAlignment;
    if (whole < bytes) throw std::bad_alloc();
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
    if (memory == nullptr) throw std::bad_alloc();
    auto* const header = new Header{};
    header->block.data = memory + kWideZone;
    header->zone = kWideZone;
    with_own_header_.push_back(header);
    return header;
  }

  // An inaccessible page may lie in front of the block.
  Header* beside_page(size_t bytes) {
    auto* const header = new Header{};
    header->block.data = guard_pages::map(bytes, place_ == Place::page_end);
    with_own_header_.push_back(header);
    return header;
  }

  static void give_back(void* data) {
    if (data != nullptr) instance().take_back(static_cast<std::byte*>(data));
  }

  void take_back(std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto own = std::ranges::find(with_own_header_, static_cast<const void*>(data),
                                       [](const Header* h) { return h->block.data; });
    Header* const header = own != with_own_header_.end() ? *own : reinterpret_cast<Header*>(data - kBefore);
    inspect(*header);
    (header->later != nullptr ? header->later->earlier : latest_) = header->earlier;
    if (header->earlier != nullptr) header->earlier->later = header->later;
    if (own != with_own_header_.end()) {
      with_own_header_.erase(own);
      header->place == Place::far_apart ? std::free(data - kWideZone) : guard_pages::unmap(data);
      delete header;
    } else if (header->block.bytes > kQuarantineBlock) {
      std::free(header);
    } else {
      header->poison.freed = poison_.freed;
      header->freed_at = serial_;

      fill(data, header->block.bytes, poison_.freed);
      quarantine_.push_back(header);
      quarantined_ += header->block.bytes;
      while (quarantined_ > kQuarantineBytes) release_oldest();
    }
  }

  void release_oldest() {
    Header* const oldest = quarantine_.front();
    quarantine_.pop_front();
    quarantined_ -= oldest->block.bytes;
    inspect_freed(*oldest);
    const size_t whole = whole_size(oldest->block.bytes);
    if (spare_bytes_ + whole > kSpareBytes) {
      std::free(oldest);
    } else {
      spare_[whole].push_back(oldest);
      spare_bytes_ += whole;
    }
  }

  void inspect(Header& header) {
    const std::byte value = header.poison.zone;
    if (const auto found = changed(header.front(), header.zone, value)) {
      note(header, Damage::Kind::before, found->first - static_cast<std::ptrdiff_t>(header.zone),
           found->second);
      std::memset(header.front(), std::to_integer<int>(value), header.zone);
    }
    if (const auto found = changed(header.back(), header.zone, value)) {
      note(header, Damage::Kind::after, found->first, found->second);
      std::memset(header.back(), std::to_integer<int>(value), header.zone);
    }
  }

  void inspect_freed(Header& header) {
    std::byte* const data = header.data();
    const std::byte value = header.poison.freed;
    const size_t bytes = header.block.bytes;
    const auto found = changed(data, bytes, value);
    if (!found) return;
    note(header, Damage::Kind::freed, found->first, found->second);
    fill(data, bytes, value);
  }

  void note(const Header& header, Damage::Kind kind, std::ptrdiff_t offset, size_t bytes) {
    constexpr size_t kKept = 64;  // one is enough for a finding, and a bad kernel can cause thousands
    if (damage_.size() < kKept) damage_.push_back({header.block, kind, offset, bytes});
  }

  std::atomic<size_t> limit_{0};
  std::mutex mutex_;
  Poison poison_ = kFirstPoison;
  Place place_ = Place::heap;
  uint64_t serial_ = 1;
  Header* latest_ = nullptr;  // head of the list of live blocks, the latest first
  std::vector<Header*> with_own_header_;
  std::deque<Header*> quarantine_;
  size_t quarantined_ = 0;
  std::unordered_map<size_t, std::vector<void*>> spare_;  // keyed by whole_size()
  size_t spare_bytes_ = 0;

  std::vector<Damage> damage_;
};

DeviceMemory* other_device = nullptr;

}  // namespace

namespace guard {

void install() {
  constexpr uint8_t kAboveAnyOther = 255;
  static const bool installed = [] {
    c10::SetCPUAllocator(&GuardAllocator::instance(), kAboveAnyOther);
    return true;
  }();
  static_cast<void>(installed);
}

void add(DeviceMemory& memory) { other_device = &memory; }

uint64_t take_serial() { return GuardAllocator::instance().take_serial(); }

void use(const Poison& poison, Place place) {
  GuardAllocator::instance().use(poison, place);
  if (other_device != nullptr) other_device->use(poison);
}

void refuse_above(size_t bytes) { GuardAllocator::instance().refuse_above(bytes); }

uint64_t next_serial() { return GuardAllocator::instance().next_serial(); }

std::vector<Block> alive_since(uint64_t serial) {
  std::vector<Block> blocks = GuardAllocator::instance().alive_since(serial);
  if (other_device != nullptr) {
    const std::vector<Block> more = other_device->alive_since(serial);
    blocks.insert(blocks.end(), more.begin(), more.end());
    std::ranges::sort(blocks, std::ranges::greater(), &Block::serial);
  }
  return blocks;
}

std::vector<Damage> take_damage_since(uint64_t serial) {
  std::vector<Damage> found = GuardAllocator::instance().take_damage_since(serial);
  if (other_device != nullptr) {
    const std::vector<Damage> more = other_device->take_damage_since(serial);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void release_freed() { GuardAllocator::instance().release_freed(); }

Block block_of(const void* data) { return GuardAllocator::instance().block_of(data); }

void label(const void* data, const std::string& name) { guard_pages::label(data, name); }

}  // namespace guard
}  // namespace opgate
