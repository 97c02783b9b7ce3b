// Products of matrices that a warp has begun and has not waited for yet.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace opgate::simulator {

struct Function;
struct Instruction;

/// One `wgmma.mma_async`. What it needs of registers is taken when it begins, but for the sums, to which it
/// adds when the warp waits for it. What it needs of shared memory is read then as well.
struct BegunProduct {
  const Instruction* instruction = nullptr;
  const Function* function = nullptr;  ///< whose registers hold the sums
  std::uint64_t group = 0;
  bool adds = false;    ///< to the sums; otherwise they begin with zeros
  std::uint64_t a = 0;  ///< descriptors of the matrices in shared memory
  std::uint64_t b = 0;
  std::vector<std::uint64_t> fragments;  ///< the registers of `a`, lane by lane, if it lies in registers
};

/// The products of one warp, in the order in which it has begun them, and the groups that it has put them
/// into. A product is computed when the warp waits for it, and not before, so that a kernel which forgets to
/// wait finds what was there before.
class ProductQueue {
 public:
  void begin(BegunProduct product) {
    product.group = groups_;
    pending_.push_back(std::move(product));
  }

  /// Makes a group of the products that are in none.
  void commit() { ++groups_; }

  /// Whether a wait that leaves the latest `kept` groups concerns the product.
  bool is_waited_for(const BegunProduct& product, std::uint64_t kept) const {
    return product.group + kept < groups_;
  }

  /// Removes the products of all groups but the latest `kept`, and gives them in their order.
  std::vector<BegunProduct> take_all_but(std::uint64_t kept) {
    std::vector<BegunProduct> taken;
    std::vector<BegunProduct> others;
    for (BegunProduct& product : pending_)
      (is_waited_for(product, kept) ? taken : others).push_back(std::move(product));
    pending_ = std::move(others);
    return taken;
  }

 private:
  std::vector<BegunProduct> pending_;
  std::uint64_t groups_ = 0;
};

}  // namespace opgate::simulator
