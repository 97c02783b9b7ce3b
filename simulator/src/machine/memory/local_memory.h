// The local memory of a thread: that of all functions which it is in.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace opgate::simulator {

/// Where the local memory of a function begins whose caller's ends at `end`.
constexpr std::size_t local_begin_behind(std::size_t end) {
  constexpr std::size_t kAlignment = 16;
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

/// Bytes that come and go as functions are called and return, which takes no time but that of filling them.
class LocalMemory {
 public:
  unsigned char* data() { return bytes_.data(); }
  std::size_t size() const { return size_; }
  /// How large it may become without asking the host for memory.
  std::size_t room() const { return bytes_.size(); }

  /// New bytes hold `fill`.
  void resize(std::size_t size, unsigned char fill) {
    if (size > bytes_.size()) bytes_.resize(size);
    if (size > size_) std::memset(bytes_.data() + size_, fill, size - size_);
    size_ = size;
  }

  /// To a size that it has had before, as after compiled code has called a function or has come back.
  void set_size(std::size_t size) { size_ = size; }

  /// Keeps the memory of the host, unless it is more than `most` bytes.
  void clear(std::size_t most) {
    size_ = 0;
    if (bytes_.capacity() > most) bytes_ = {};
  }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t size_ = 0;
};

}  // namespace opgate::simulator
