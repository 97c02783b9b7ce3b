// The tools that watch kernels while they run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace opgate::simulator {

class Tool;
struct WatchedLaunch;

/// Which tools watch. None by default.
struct Tools {
  bool init = false;     ///< loads of memory that was not written
  bool race = false;     ///< accesses of two threads to the same bytes that nothing orders
  bool sync = false;     ///< barriers that not all threads reach, and masks that name absent threads
  bool stream = false;   ///< operations of several streams that access the same bytes and that nothing orders
  bool traffic = false;  ///< counts what accesses of warps cost, and finds nothing

  /// "init, race and sync": of all that there are.
  static std::string names();

  bool any() const;

  /// Whether a tool asks what else runs when a kernel begins before its stream has come to it.
  bool follow_early_launches() const { return race; }

  /// Reads "init,race". A word that is not the name of a tool is put into `unknown`.
  static Tools parse(std::string_view words, std::string& unknown);

  /// Those that watch, for a launch, which must exist for as long as they do.
  std::vector<std::unique_ptr<Tool>> make(const WatchedLaunch& launch) const;
};

}  // namespace opgate::simulator
