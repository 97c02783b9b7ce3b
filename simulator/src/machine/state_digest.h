// A number that stands for a sequence of words and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace opgate::simulator {

/// Each word is multiplied into the number, and its upper bits are folded into the lower ones.
class StateDigest {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 32;
  }

  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    add(bytes);
    for (; bytes >= sizeof(std::uint64_t); at += sizeof(std::uint64_t), bytes -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof(word));
      add(word);
    }
    for (; bytes > 0; ++at, --bytes) add(*at);
  }

  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace opgate::simulator
