// The addresses of all simulated devices. The host gets a range without any access, so that it faults where
// it dereferences device memory. Kernels and copies use a second mapping of the same memory, the alias.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opgate::simulator {

class AddressRange {
 public:
  /// `fill`: the byte that unwritten memory holds. Throws std::bad_alloc if the system refuses the mappings.
  AddressRange(int devices, std::size_t bytes_of_each, unsigned char fill);

  /// Whether a pointer lies in the range of any device, allocated or not.
  bool holds(std::uint64_t address) const { return address - begin_ < bytes_; }

  int device_of(std::uint64_t address) const { return static_cast<int>((address - begin_) / share_); }

  std::uint64_t begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t begin_of(int device) const { return begin_ + static_cast<std::size_t>(device) * share_; }
  std::size_t bytes_of_each() const { return share_; }

  /// Where the simulator may access what lies at a device address.
  std::byte* alias(std::uint64_t address) const { return alias_ + (address - begin_); }

  /// Makes each byte of a region hold `fill`. If it is large, its pages take memory of the machine only once
  /// they are written.
  void fill(std::uint64_t address, std::size_t bytes) const;

  /// Gives whole pages of a region back to the system.
  void drop(std::uint64_t address, std::size_t bytes) const;

 private:
  bool map_unwritten(std::uint64_t first, std::uint64_t last) const;

  std::size_t share_;
  std::size_t bytes_;
  std::uint64_t begin_ = 0;
  std::byte* alias_ = nullptr;
  int file_ = -1;
  unsigned char fill_;
  int unwritten_ = -1;  // a file of nothing but `fill_`
};

}  // namespace opgate::simulator
