// What calls with ever larger sizes may take together, and which sizes are left out because of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace opgate {

/// Where a kernel is compiled for each size, calls take ever longer, which says nothing against the kernel.
class SizeBudget {
 public:
  /// `most_seconds`: of processors, for all calls.
  explicit SizeBudget(double most_seconds) : most_seconds_(most_seconds) {}

  /// Whether a call in which the sample's size `present` becomes `size` is likely to end in time. If not, the
  /// size counts as left out.
  bool allows(int64_t present, int64_t size);

  /// Counts a call that was made. `seconds`: of processors.
  void add(int64_t present, int64_t size, double seconds);

  const std::set<int64_t>& left_out() const { return left_out_; }

 private:
  struct Call {
    int64_t size;
    double seconds;
    double power;  ///< with this power of the size, the time of calls has grown
  };

  double most_seconds_;
  double spent_ = 0;
  std::map<int64_t, Call> last_;  ///< by the size of the sample
  std::set<int64_t> left_out_;
};

}  // namespace opgate
