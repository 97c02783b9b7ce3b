// The tools that watch kernels while they run.
#pragma once

#include <string>
#include <string_view>

namespace opgate::simulator {

/// Which tools watch. None by default.
struct Tools {
  bool init = false;  ///< loads of memory that was not written
  bool race = false;  ///< accesses of two threads to the same bytes that nothing orders
  bool sync =
      false;  ///< barriers that not all threads reach, and masks that name threads which are not there
  bool stream = false;  ///< operations of several streams that access the same bytes and that nothing orders

  bool any() const { return init || race || sync || stream; }

  /// Reads "init,race". A word that is not the name of a tool is put into `unknown`.
  static Tools parse(std::string_view words, std::string& unknown);
};

}  // namespace opgate::simulator
