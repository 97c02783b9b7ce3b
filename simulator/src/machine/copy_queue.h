// Copies that a thread has begun and has not waited for yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opgate::simulator {

/// Combines each element of a place with one that is added to it, as a reduction does.
using Combine = void (*)(unsigned char* to, const unsigned char* from, std::size_t bytes);

/// Bytes that are copied later. The code that begins a copy has asked whether both sides may be accessed.
struct Copy {
  unsigned char* to = nullptr;
  const unsigned char* from = nullptr;  ///< null: zeros
  std::size_t bytes = 0;
  Combine combine = nullptr;  ///< null: the bytes take the place of those before

  void perform() const;
};

/// The copies of one thread, in the order in which it has begun them, and the groups that it has put them
/// into. A copy happens when the thread waits for it, and not before, so that a kernel which forgets to wait
/// finds what was there before.
class CopyQueue {
 public:
  void begin(const Copy& copy) { pending_.push_back({copy, groups_, begun_++, {}, false}); }

  /// Makes a group of the copies that are in none.
  void commit() { ++groups_; }

  /// All copies of groups happen, except those of the latest `kept` groups.
  void finish_groups(std::uint64_t kept);
  /// What those copies read is read now, and written later.
  void read_groups(std::uint64_t kept);

  /// How many copies the thread has begun so far.
  std::uint64_t begun() const { return begun_; }
  /// How many of them have happened.
  std::uint64_t happened() const { return pending_.empty() ? begun_ : pending_.front().number; }
  /// How many of them have been read at least.
  std::uint64_t read() const;
  /// Bytes that the copies read which were begun after the first `count`.
  std::size_t bytes_read_behind(std::uint64_t count) const;
  /// The first `count` copies of the thread happen, whether they are in a group or not.
  void finish_first(std::uint64_t count);
  void finish_all() { finish_first(begun_); }

 private:
  struct Pending {
    Copy copy;
    std::uint64_t group = 0;
    std::uint64_t number = 0;
    std::vector<unsigned char> taken;  ///< what was read
    bool is_taken = false;
  };

  /// The index of the first group that is not complete when only `kept` may be incomplete.
  std::uint64_t first_kept(std::uint64_t kept) const { return groups_ > kept ? groups_ - kept : 0; }
  template <class Condition>
  void finish_while(Condition condition);

  std::vector<Pending> pending_;
  std::uint64_t groups_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace opgate::simulator
