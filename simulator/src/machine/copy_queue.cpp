#include "machine/copy_queue.h"

#include <algorithm>
#include <cstring>

namespace opgate::simulator {

void Copy::perform() const {
  if (combine != nullptr) {
    combine(to, from, bytes);
  } else if (from == nullptr) {
    std::memset(to, 0, bytes);
  } else {
    std::memmove(to, from, bytes);
  }
}

template <class Condition>
void CopyQueue::finish_while(Condition condition) {
  std::size_t done = 0;
  for (; done < pending_.size() && condition(pending_[done]); ++done) {
    Pending& pending = pending_[done];
    if (pending.is_taken) pending.copy.from = pending.taken.data();
    pending.copy.perform();
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

void CopyQueue::finish_groups(std::uint64_t kept) {
  finish_while([first = first_kept(kept)](const Pending& pending) { return pending.group < first; });
}

void CopyQueue::read_groups(std::uint64_t kept) {
  for (Pending& pending : pending_) {
    if (pending.group >= first_kept(kept) || pending.is_taken || pending.copy.from == nullptr) continue;
    pending.taken.assign(pending.copy.from, pending.copy.from + pending.copy.bytes);
    pending.is_taken = true;
  }
}

std::uint64_t CopyQueue::read() const {
  const auto first = std::find_if(pending_.begin(), pending_.end(),
                                  [](const Pending& pending) { return !pending.is_taken; });
  return first == pending_.end() ? begun_ : first->number;
}

std::size_t CopyQueue::bytes_read_behind(std::uint64_t count) const {
  std::size_t bytes = 0;
  for (const Pending& pending : pending_) {
    if (pending.number >= count && pending.copy.from != nullptr) bytes += pending.copy.bytes;
  }
  return bytes;
}

void CopyQueue::finish_first(std::uint64_t count) {
  finish_while([count](const Pending& pending) { return pending.number < count; });
}

}  // namespace opgate::simulator
