// Asynchronous copies. Between its begin and the end of the wait for it, a copy is ordered with nothing, not
// even with its own thread.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "instructions/bulk_copies.h"
#include "instructions/tensor_copies.h"
#include "machine/memory/memory.h"
#include "watch/block_watch.h"

namespace opgate::simulator {
namespace watched_copies {

// All bulk copies are of a multiple of it.
constexpr std::uint32_t kMostOfOneAccess = 16;

// Calls `visit` with each access to the source or to the destination of a piece, and with where it begins in
// the piece. Reductions in bulk are atomic for each element.
template <class Visit>
void for_each_access(const WatchedCopy& copy, const CopyPiece& piece, Annotation::Kind kind, Visit visit) {
  const bool is_load = kind == Annotation::Kind::load;
  Annotation how;
  how.kind = kind;
  if (copy.reduces && !is_load) {
    how.kind = Annotation::Kind::reduction;
    how.is_strong = true;
  }
  how.space = is_load ? copy.from_space : copy.to_space;
  how.lanes = 0;
  how.number(copy.site);
  const std::uint32_t bytes = is_load ? piece.bytes_read : piece.bytes;
  for (std::uint32_t done = 0; done < bytes; done += how.bytes) {
    how.bytes = static_cast<std::uint8_t>(std::min(std::bit_floor(bytes - done), kMostOfOneAccess));
    visit(done,
          WatchedAccess{&how, how.space, (is_load ? piece.from : piece.to) + done, copy.thread->linear});
  }
}

std::uint64_t sum_of_slots(const Thread& thread, const Instruction& in, int slot) {
  return read<std::uint64_t>(thread, in, slot) + read<std::uint64_t>(thread, in, slot + 1);
}

constexpr std::uint64_t kSharedAddress = 0xffffffffu;

}  // namespace watched_copies

void BlockWatch::begin(AsyncOperation& operation, Thread& thread, const Instruction& instruction) {
  operation.number = ++async_.begun;
  operation.thread = &thread;
  operation.site = instruction.annotation->site;
}

// The source counts as read by the thread when the copy begins.
void BlockWatch::read_source(const WatchedCopy& copy) {
  std::uint32_t offset = 0;
  for (const CopyPiece& piece : copy.pieces) {
    watched_copies::for_each_access(copy, piece, Annotation::Kind::load,
                                    [&](std::uint32_t done, const WatchedAccess& access) {
                                      emit(&BlockTool::read_of_copy, copy, offset + done, access);
                                    });
    offset += piece.bytes;
  }
  emit(&BlockTool::begin_async, copy);
}

void BlockWatch::begin_copy(Thread& thread, const Instruction& instruction) {
  const std::uint64_t before = thread.copies.begun();
  instruction.execute(thread, instruction);
  WatchedCopy copy;
  begin(copy, thread, instruction);
  copy.pieces.push_back({.to = address_of(thread, instruction, 0) & watched_copies::kSharedAddress,
                         .from = watched_copies::sum_of_slots(thread, instruction, 1),
                         .bytes = read<std::uint32_t>(thread, instruction, 3),
                         .bytes_read = static_cast<std::uint32_t>(thread.copies.bytes_read_behind(before))});
  copy.end = thread.copies.begun();
  read_source(copy);
  async_.copies[&thread].push_back(std::move(copy));
}

void BlockWatch::begin_bulk_copy(Thread& thread, const Instruction& instruction) {
  const Annotation& annotation = *instruction.annotation;
  instruction.execute(thread, instruction);
  const bool is_load = annotation.kind == Annotation::Kind::bulk_load;
  const BulkOperands operands = bulk_operands(thread, instruction, is_load);
  WatchedCopy copy;
  begin(copy, thread, instruction);
  copy.reduces = annotation.is_strong;
  copy.to_space = is_load ? Space::shared : Space::global;
  copy.from_space = annotation.space;
  copy.pieces.push_back({.to = is_load ? place_in_own_block(thread, instruction, operands.to) : operands.to,
                         .from = annotation.space == Space::shared
                                     ? place_in_own_block(thread, instruction, operands.from)
                                     : operands.from,
                         .bytes = operands.bytes,
                         .bytes_read = operands.bytes});
  keep_bulk_copy(std::move(copy), instruction, is_load ? std::optional(operands.mbarrier) : std::nullopt);
}

void BlockWatch::keep_bulk_copy(WatchedCopy copy, const Instruction& instruction,
                                std::optional<std::uint64_t> mbarrier) {
  Thread& thread = *copy.thread;
  copy.end = thread.bulk_copies.begun();
  read_source(copy);
  if (mbarrier) {
    async_.promises.push_back({place_in_own_block(thread, instruction, *mbarrier), true, std::move(copy)});
  } else {
    async_.bulk_copies[&thread].push_back(std::move(copy));
  }
}

void BlockWatch::begin_tensor_copy(Thread& thread, const Instruction& instruction) {
  instruction.execute(thread, instruction);
  const bool is_load = instruction.annotation->kind == Annotation::Kind::tensor_load;
  WatchedCopy copy;
  begin(copy, thread, instruction);
  copy.reduces = instruction.annotation->is_strong;
  if (!is_load) std::swap(copy.to_space, copy.from_space);
  for (const TensorPiece& of_box : pieces_of_tensor_copy(thread, instruction, is_load)) {
    if (!is_load && !of_box.global) continue;
    CopyPiece piece{.to = place_in_own_block(thread, instruction, of_box.shared),
                    .from = of_box.global.value_or(0),
                    .bytes = of_box.bytes,
                    .bytes_read = of_box.global ? of_box.bytes : 0};
    if (!is_load) std::swap(piece.to, piece.from);
    copy.pieces.push_back(piece);
  }
  keep_bulk_copy(std::move(copy), instruction,
                 is_load ? std::optional(mbarrier_of_tensor_copy(thread, instruction)) : std::nullopt);
}

// What has happened by now of the copies of a thread.
void BlockWatch::settle_copies(Thread& thread) {
  const auto settle = [&](std::map<Thread*, std::vector<WatchedCopy>>& of_threads, const CopyQueue& queue) {
    const auto known = of_threads.find(&thread);
    if (known == of_threads.end()) return;
    for (WatchedCopy& copy : known->second)
      progress(copy, copy.end <= queue.read(), copy.end <= queue.happened());
    std::erase_if(known->second, [&](const WatchedCopy& copy) {
      const bool has_ended = copy.end <= queue.happened();
      if (has_ended) emit(&BlockTool::end_async, copy);
      return has_ended;
    });
  };
  settle(async_.copies, thread.copies);
  settle(async_.bulk_copies, thread.bulk_copies);
}

void BlockWatch::progress(WatchedCopy& copy, bool is_read, bool is_written) {
  const bool is_new = is_read && !std::exchange(copy.is_read, true);
  std::uint32_t offset = 0;
  for (const CopyPiece& piece : copy.pieces) {
    if (is_new)
      watched_copies::for_each_access(copy, piece, Annotation::Kind::load,
                                      [&](std::uint32_t, const WatchedAccess& access) {
                                        emit(&BlockTool::finish_reading, copy, access);
                                      });
    if (is_written)
      watched_copies::for_each_access(copy, piece, Annotation::Kind::store,
                                      [&](std::uint32_t done, const WatchedAccess& access) {
                                        emit(&BlockTool::finish_writing, copy, offset + done, access);
                                      });
    offset += piece.bytes;
  }
}

}  // namespace opgate::simulator
