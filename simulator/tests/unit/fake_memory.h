// Device memory over memory of the host, and kernels for it. It needs no test framework.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/module.h"
#include "machine/state_digest.h"

namespace opgate::simulator::tests {

class FakeDevice final : public DeviceMemory {
 public:
  void* translate(std::uint64_t address, std::size_t bytes, Access access, std::size_t& until,
                  std::string& why) override {
    ++questions;
    const auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin()) {
      why = "not allocated";
      return nullptr;
    }
    auto& [base, allocation] = *std::prev(next);
    const std::uint64_t offset = address - base;
    if (offset + bytes > allocation.bytes.size()) {
      why = "past the end of " + std::to_string(allocation.bytes.size()) + " bytes";
      return nullptr;
    }
    if (allocation.read_only && access != Access::load) {
      why = "read only";
      return nullptr;
    }
    until = allocation.bytes.size() - offset;
    return allocation.bytes.data() + offset;
  }

  Allocated allocation_of(std::uint64_t address) override {
    const auto& [base, allocation] = *std::prev(allocations_.upper_bound(address));
    return {base, allocation.bytes.size(), is_of_host};
  }

  bool may_be_asked_at_once() const override { return may_be_asked; }

  std::optional<std::uint64_t> digest(bool host_may_write) const override {
    if (host_may_write && is_of_host) return std::nullopt;
    StateDigest digest;
    for (const auto& [address, allocation] : allocations_)
      digest.add(allocation.bytes.data(), allocation.bytes.size());
    return digest.value();
  }

  std::function<void()> keep_heap() override {
    return [this, allocations = allocations_, left = left_of_heap, freed = freed_, bytes = freed_bytes_,
            next = next_] {
      allocations_ = allocations;
      left_of_heap = left;
      freed_ = freed;
      freed_bytes_ = bytes;
      next_ = next;
    };
  }

  /// `malloc` in a kernel takes the block that was freed last, if it is large enough.
  std::uint64_t allocate_in_kernel(std::size_t bytes) override {
    if (bytes > left_of_heap) return 0;
    left_of_heap -= bytes;
    std::uint64_t address = std::exchange(freed_, 0);
    if (address != 0 && freed_bytes_ >= bytes) {
      allocations_[address].bytes.resize(bytes);
    } else {
      address = allocate(std::vector<unsigned char>(bytes));
    }
    return address;
  }

  bool free_in_kernel(std::uint64_t address, std::string& why) override {
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) {
      why = "not allocated";
      return false;
    }
    freed_ = address;
    freed_bytes_ = found->second.bytes.size();
    left_of_heap += freed_bytes_;
    allocations_.erase(found);
    return true;
  }

  /// The address of new memory that holds these values.
  template <class T>
  std::uint64_t allocate(const std::vector<T>& values) {
    const std::uint64_t address = next_;
    next_ += values.size() * sizeof(T) + 512 - values.size() * sizeof(T) % 256;
    std::vector<unsigned char>& bytes = allocations_[address].bytes;
    bytes.resize(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return address;
  }

  void make_read_only(std::uint64_t address) { allocations_.at(address).read_only = true; }

  template <class T>
  std::vector<T> read(std::uint64_t address) const {
    const std::vector<unsigned char>& bytes = allocations_.at(address).bytes;
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  /// Calls a function with the address and the size of each allocation.
  template <class Visit>
  void for_each_allocation(Visit visit) const {
    for (const auto& [address, allocation] : allocations_) visit(address, allocation.bytes.size());
  }

  std::atomic<int> questions = 0;
  bool may_be_asked = false;  ///< at once
  bool is_of_host = false;
  std::size_t left_of_heap = 1 << 20;

 private:
  struct Allocation {
    std::vector<unsigned char> bytes;
    bool read_only = false;
  };
  std::map<std::uint64_t, Allocation> allocations_;
  std::uint64_t next_ = 0x7f0000000000;
  std::uint64_t freed_ = 0;
  std::size_t freed_bytes_ = 0;
};

/// Gives each variable of a module memory that holds its initial value, or zeros.
inline void place_variables(Module& module, FakeDevice& device) {
  for (const Variable& variable : module.variables()) {
    std::vector<unsigned char> bytes = variable.initial;
    bytes.resize(variable.bytes);
    module.place(variable.name, device.allocate(bytes));
  }
}

/// Puts arguments one after the other, each aligned to its size.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(const T&... values) {
    (add(values), ...);
  }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  template <class T>
  void add(const T& value) {
    const std::size_t offset = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(offset + sizeof(T));
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  std::vector<unsigned char> bytes_;
};

inline Launch launch_of(const std::string& kernel, Extent grid, Extent block, const Arguments& arguments) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = grid;
  launch.block = block;
  launch.parameters = arguments.bytes();
  launch.instruction_limit = 100'000'000;
  return launch;
}

/// A kernel `k` of one pointer, whose body is given. The registers %r, %rd, %f, %fd, %h and %p are declared,
/// %rd1 is the pointer, and %r1 the thread's index in the block.
inline std::string kernel_of(const std::string& body, const std::string& before = "") {
  return ".version 8.7\n.target sm_90\n.address_size 64\n" + before +
         "\n.visible .entry k(.param .u64 pointer) {\n.reg .pred %p<20>; .reg .b16 %h<40>; .reg .b32 %r<40>; "
         ".reg .b64 %rd<40>;\n"
         ".reg .f32 %f<40>; .reg .f64 %fd<40>;\nld.param.u64 %rd1, [pointer];\nmov.u32 %r1, %tid.x;\n" +
         body + "\nret;\n}\n";
}

}  // namespace opgate::simulator::tests
