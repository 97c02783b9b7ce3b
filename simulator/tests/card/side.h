// The two sides of a comparison: the simulator, and a card or what stands in for one.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace opgate::card {

/// One launch of the kernel `k(pointer)` of a PTX module.
struct Work {
  std::string ptx;
  unsigned blocks = 1;
  unsigned threads = 32;              ///< of a block
  unsigned cluster = 1;               ///< blocks of a cluster, which the kernel demands
  std::vector<unsigned char> memory;  ///< what the pointer points to
};

struct Result {
  std::vector<unsigned char> memory;
  std::string failure;  ///< empty if the kernel ran to its end
};

class Side {
 public:
  virtual ~Side() = default;

  /// For people: "NVIDIA H100 80GB HBM3, driver 13.0".
  virtual std::string name() const = 0;

  /// Failures of one kernel are results. Throws LostSide if nothing runs in this process after this kernel,
  /// and std::runtime_error if the side cannot be used for another reason.
  virtual Result run(const Work& work) = 0;
};

/// A kernel failed in a way that a card keeps until the process ends.
struct LostSide : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::unique_ptr<Side> simulated_side();

/// The card, through the driver's libcuda.so.1, which translates the PTX. Throws std::runtime_error if there
/// is none.
std::unique_ptr<Side> card_side();

/// The simulator instead of a card. `planted` is "OLD=NEW": in all PTX, OLD is replaced by NEW, so that
/// what is compared differs; empty: nothing is.
std::unique_ptr<Side> stand_in_side(const std::string& planted);

}  // namespace opgate::card
