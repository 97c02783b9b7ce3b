// What threads have made known to others by writing one place in memory: releases, which later reads of the
// place acquire.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simulator/watch/cluster_numbers.h"

namespace opgate::simulator {

/// For each thread of a block: what it did before this time of its block is known.
using Clocks = std::vector<std::uint32_t>;

/// What a thread knows of its own block at one moment: which accesses come before it.
struct View {
  std::uint32_t block = 0;
  std::uint32_t base = 0;  ///< all that any thread did before this time
  std::uint32_t warp = 0;
  std::uint32_t warp_base = 0;  ///< the same of the threads of this warp
  std::uint32_t thread = 0;
  std::uint32_t own = 0;                 ///< of this thread
  std::shared_ptr<const Clocks> others;  ///< of single threads; may be null

  bool knows(std::uint32_t of_thread, std::uint32_t clock) const {
    return clock < base || (of_thread / 32 == warp && clock < warp_base) ||
           (of_thread == thread && clock < own) || (others != nullptr && clock < (*others)[of_thread]);
  }
};

class ReleaseLog;

/// The first `length` releases of a log, for a thread whose acquiring operation has this scope.
struct Acquired {
  std::shared_ptr<const ReleaseLog> log;
  std::size_t length = 0;
  Scope scope = Scope::device;
};

/// What a fence makes ready to be released, or an operation releases: all that the thread knew.
struct Release {
  View view;
  std::vector<Acquired> acquired;
  Scope scope = Scope::device;
};

/// Adds what is not yet among them.
void merge(std::vector<Acquired>& into, const std::vector<Acquired>& from);

class ReleaseLog {
 public:
  ReleaseLog() = default;
  /// Makes known all that the blocks of these numbers have done. `end` is behind the last one.
  ReleaseLog(std::uint32_t first_block, std::uint32_t end) : first_block_(first_block), end_(end) {}

  void add(const std::shared_ptr<const Release>& release);
  /// Of the access itself, and not of a fence before it. A later strong write by the same thread carries on
  /// with it.
  void add_of_access(const std::shared_ptr<const Release>& release) {
    add(release);
    of_last_access_ = release;
  }
  /// The last one of these; may be null.
  const std::shared_ptr<const Release>& of_last_access() const { return of_last_access_; }

  std::size_t length() const { return releases_.size(); }

  /// Whether an access is known to a thread that has acquired so much, also by way of other logs. Who
  /// releases and who acquires must reach each other at each step; the threads of one step need not reach
  /// those of another.
  static bool knows(const std::vector<Acquired>& acquired, std::uint32_t reader_block,
                    const ClusterNumbers& clusters, const AccessRecord& access);

 private:
  /// What a thread that has released here had acquired before.
  struct Step {
    std::size_t position = 0;  ///< of its release
    Acquired acquired;         ///< from another log; from this one, if that is null
  };

  /// The first `length` releases of a log, for who has acquired them in this block with this scope.
  struct Visit {
    const ReleaseLog* log = nullptr;
    std::size_t length = 0;
    Scope scope = Scope::device;
    std::uint32_t block = 0;

    bool reaches(const Release& release, const ClusterNumbers& clusters) const;
    /// Whether one of these releases knows the access by itself.
    bool finds(const AccessRecord& access, const ClusterNumbers& clusters) const;
  };

  bool has_all_of(std::uint32_t block) const { return first_block_ <= block && block < end_; }
  /// Whether it does not matter in which block somebody has acquired this.
  static bool is_for_all(const Acquired& acquired) {
    return acquired.scope == Scope::device && !acquired.log->has_narrow_;
  }
  bool has_step(const Release& release, const Acquired& acquired) const;

  std::uint32_t first_block_ = 0;
  std::uint32_t end_ = 0;
  std::vector<std::shared_ptr<const Release>> releases_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> of_block_;  ///< positions
  std::vector<Step> steps_;
  std::shared_ptr<const Release> of_last_access_;
  bool has_narrow_ = false;  ///< a release that does not reach all threads of the device
};

}  // namespace opgate::simulator
