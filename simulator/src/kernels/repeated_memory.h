// Memory from which a launch can be executed again after it has run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "machine/launches/launch.h"

namespace opgate::simulator {

/// The memory itself. Keeps what a launch overwrites, in pages.
class KeptMemory final : public DeviceMemory {
 public:
  static constexpr std::uint64_t kPage = std::uint64_t{1} << 16;

  explicit KeptMemory(DeviceMemory& memory) : memory_(memory) {}

  void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                  std::string& why) override;
  Allocated allocation_of(std::uint64_t address) override { return memory_.allocation_of(address); }
  std::optional<std::uint64_t> digest(bool host_may_write) const override {
    return memory_.digest(host_may_write);
  }
  std::uint64_t allocate_in_kernel(std::size_t bytes) override { return memory_.allocate_in_kernel(bytes); }
  bool free_in_kernel(std::uint64_t address, std::string& why) override {
    return memory_.free_in_kernel(address, why);
  }
  std::function<void()> keep_heap() override { return memory_.keep_heap(); }

  /// Copies what a page of an allocation held before the launch; pages count from the allocation's start.
  void copy_page(const Allocated& allocation, std::uint64_t page, unsigned char* to);

  /// The addresses of the pages that the launch has written.
  std::vector<std::uint64_t> written() const;

 private:
  DeviceMemory& memory_;
  std::map<std::uint64_t, std::vector<unsigned char>> pages_;  // that were written, by their addresses
};

/// What a launch that is executed again sees: the kept memory, of which it changes a copy. It has no heap.
class RepeatedMemory final : public DeviceMemory {
 public:
  explicit RepeatedMemory(KeptMemory& kept) : kept_(kept) {}

  void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                  std::string& why) override;
  Allocated allocation_of(std::uint64_t address) override { return kept_.allocation_of(address); }

  /// Whether the repetition has accessed memory of the host.
  bool accesses_host() const { return accesses_host_; }

  /// Whether this repetition has left what the kept memory holds now.
  bool has_left_the_same();

 private:
  /// Address space of an allocation's size, which costs memory only for pages that are touched.
  class Copy {
   public:
    explicit Copy(std::size_t bytes);
    ~Copy();
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    unsigned char* begin = nullptr;
    std::set<std::uint64_t> pages;  ///< that hold a copy

   private:
    std::size_t bytes_;
  };

  Copy& copy_of(const Allocated& allocation);
  /// The page of the copy, which is made if there is none.
  unsigned char* page_of(const Allocated& allocation, std::uint64_t page);

  KeptMemory& kept_;
  std::map<std::uint64_t, std::unique_ptr<Copy>> copies_;  // by the starts of their allocations
  bool accesses_host_ = false;
};

}  // namespace opgate::simulator
