#include "compiled/chunks.h"

#include <utility>

namespace opgate::simulator {
namespace chunks {

using Slots = std::vector<bool>;

std::vector<bool> begins_of(const Function& function, const std::vector<Roles>& roles) {
  std::vector<bool> begins(function.code.size() + 1);
  begins[0] = true;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    for (const std::int64_t target : roles[i].targets) begins[static_cast<std::size_t>(target)] = true;
    if (roles[i].ends || roles[i].stops) begins[i + 1] = true;
  }
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    if (function.turn_ends[i]) begins[i] = true;
  }
  begins[function.code.size()] = true;
  return begins;
}

// What is read before the chunk writes it, and what it writes in any case.
struct Uses {
  Slots read;
  Slots written;
};

Uses uses_of(const Function& function, const std::vector<Roles>& roles, const Chunk& chunk) {
  Uses uses{Slots(function.initial.size()), Slots(function.initial.size())};
  const auto read = [&](Slot slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (!uses.written[at]) uses.read[at] = true;
  };
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    const std::int32_t guard = function.code[i].guard;
    if (guard >= 0) read(guard >> 1);
    for (const Slot slot : roles[i].reads) read(slot);
    if (guard >= 0) continue;
    for (const Slot slot : roles[i].writes) uses.written[static_cast<std::size_t>(slot)] = true;
  }
  return uses;
}

void find_live(const Function& function, const std::vector<Roles>& roles, std::vector<Chunk>& all) {
  std::vector<Uses> uses;
  std::vector<Slots> live;
  for (const Chunk& chunk : all) {
    uses.push_back(uses_of(function, roles, chunk));
    live.push_back(uses.back().read);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = all.size(); i-- > 0;) {
      for (const std::size_t next : all[i].next) {
        for (std::size_t slot = 0; slot < live[i].size(); ++slot) {
          if (!live[next][slot] || live[i][slot] || uses[i].written[slot]) continue;
          live[i][slot] = true;
          changed = true;
        }
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t slot = 0; slot < live[i].size(); ++slot) {
      if (live[i][slot]) all[i].live.push_back(static_cast<Slot>(slot));
    }
  }
}

}  // namespace chunks

std::vector<Chunk> chunks_of(const Function& function, const std::vector<Roles>& roles) {
  const std::vector<bool> begins = chunks::begins_of(function, roles);
  std::vector<Chunk> all;
  std::vector<std::size_t> number(begins.size());
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    if (begins[i]) {
      Chunk chunk;
      chunk.begin = i;
      chunk.is_turn_end = function.turn_ends[i];
      chunk.is_entry = chunk.is_turn_end || (i != 0 && roles[i - 1].stops);
      all.push_back(std::move(chunk));
    }
    number[i] = all.size() - 1;
    all.back().end = i + 1;
  }
  for (Chunk& chunk : all) {
    const std::size_t last = chunk.end - 1;
    for (const std::int64_t target : roles[last].targets)
      chunk.next.push_back(number[static_cast<std::size_t>(target)]);
    const bool goes_on = !roles[last].ends || function.code[last].guard >= 0;
    if (goes_on && chunk.end < function.code.size()) chunk.next.push_back(number[chunk.end]);
  }
  chunks::find_live(function, roles, all);
  return all;
}

}  // namespace opgate::simulator
