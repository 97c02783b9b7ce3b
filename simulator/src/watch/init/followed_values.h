// Masks of the bits that came from unwritten memory, and registers that change for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/thread.h"

namespace opgate::simulator {
namespace followed_values {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

// A bit for each byte becomes eight.
inline std::uint64_t bits_of_bytes(std::uint64_t bytes) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((bytes >> i & 1) != 0) bits |= std::uint64_t{0xff} << (8 * i);
  }
  return bits;
}

inline std::uint64_t bytes_of_bits(std::uint64_t bits) {
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((bits >> (8 * i) & 0xff) != 0) bytes |= std::uint64_t{1} << i;
  }
  return bytes;
}

// All bits of each number of which some are set.
inline std::uint64_t whole_numbers(std::uint64_t bits, unsigned bits_of_number) {
  if (bits_of_number >= 32) return bits != 0 ? kAll : 0;
  const std::uint64_t number = (std::uint64_t{1} << bits_of_number) - 1;
  std::uint64_t whole = 0;
  for (unsigned at = 0; at < 32; at += bits_of_number) {
    if ((bits >> at & number) != 0) whole |= number << at;
  }
  return whole;
}

// For each of the four numbers of a register: `unwritten` if the mask has bits there, 0 for a zero, and
// otherwise 1.
inline std::uint64_t small_factors(std::uint64_t numbers, std::uint64_t mask, std::uint8_t unwritten) {
  std::uint64_t small = 0;
  for (unsigned at = 0; at < 32; at += 8) {
    const std::uint64_t factor = (mask >> at & 0xff) != 0 ? unwritten : (numbers >> at & 0xff) != 0 ? 1 : 0;
    small |= factor << at;
  }
  return small;
}

/// The values of an instruction's registers, which come back when this ends.
class KeptRegisters {
 public:
  KeptRegisters(Thread& thread, const Instruction& in, std::size_t count) : thread_(thread), in_(in) {
    for (std::size_t i = 0; i < count; ++i) values_.push_back(thread.registers[in.slot(i)]);
  }
  ~KeptRegisters() { restore(); }
  KeptRegisters(const KeptRegisters&) = delete;
  KeptRegisters& operator=(const KeptRegisters&) = delete;

  void restore() const {
    for (std::size_t i = 0; i < values_.size(); ++i) thread_.registers[in_.slot(i)] = values_[i];
  }

 private:
  Thread& thread_;
  const Instruction& in_;
  std::vector<std::uint64_t> values_;
};

}  // namespace followed_values

}  // namespace opgate::simulator
