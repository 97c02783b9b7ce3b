// What the tools make of asynchronous copies. Between its start and the end of the wait for it, a copy is
// ordered with nothing, not even with its own thread.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "instructions/bulk_copies.h"
#include "instructions/tensor_copies.h"
#include "machine/memory.h"
#include "watch/launch_watch.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace watched_copies {

constexpr const char* kHint =
    "; a copy may happen at any time between its begin and the end of a wait for it";

// All bulk copies are of a multiple of it.
constexpr std::uint32_t kMostOfOneAccess = 16;

template <class Visit>
void for_each_piece(std::uint32_t bytes, Visit visit) {
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t piece = std::min(std::bit_floor(bytes - done), kMostOfOneAccess);
    visit(done, piece);
    done += piece;
  }
}

// Reductions in bulk are atomic for each element.
Annotation annotation_of(Annotation::Kind kind, const WatchedCopy& copy, std::uint32_t bytes) {
  Annotation annotation;
  annotation.kind = kind;
  if (copy.reduces && kind == Annotation::Kind::store) {
    annotation.kind = Annotation::Kind::reduction;
    annotation.is_strong = true;
  }
  annotation.space = kind == Annotation::Kind::load ? copy.from_space : copy.to_space;
  annotation.bytes = static_cast<std::uint8_t>(bytes);
  annotation.lanes = 0;
  annotation.number(copy.site);
  return annotation;
}

std::uint64_t sum_of_slots(const Thread& thread, const Instruction& in, int slot) {
  return read<std::uint64_t>(thread, in, slot) + read<std::uint64_t>(thread, in, slot + 1);
}

constexpr std::uint64_t kSharedAddress = 0xffffffffu;

}  // namespace watched_copies

std::shared_ptr<const Release> LaunchWatch::snapshot(BlockWatch& block, const Thread& thread) const {
  return tools_.race ? block.races.clocks.snapshot(thread.linear) : nullptr;
}

// The source counts as read by the thread when the copy begins.
void LaunchWatch::read_source(BlockWatch& block, Thread& thread, const Instruction& instruction,
                              WatchedCopy& copy) {
  watched_copies::for_each_piece(copy.bytes_read, [&](std::uint32_t done, std::uint32_t bytes) {
    const Annotation how = watched_copies::annotation_of(Annotation::Kind::load, copy, bytes);
    const WatchedAccess access{&how, how.space, copy.from + done, thread.linear};
    const Unwritten read = watch_access(block, thread, instruction, access);
    if (copy.reduces) {
      use(thread, instruction, read);
    } else if (read.bits != 0) {
      copy.unwritten.push_back({done, read});
    }
    look_for_proxy_fence(block, thread, access);
  });
}

void LaunchWatch::begin_copy(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const std::uint64_t before = thread.copies.begun();
  instruction.execute(thread, instruction);
  WatchedCopy copy;
  copy.thread = &thread;
  copy.site = instruction.annotation->site;
  copy.to = address_of(thread, instruction, 0) & watched_copies::kSharedAddress;
  copy.bytes = read<std::uint32_t>(thread, instruction, 3);
  copy.from = watched_copies::sum_of_slots(thread, instruction, 1);
  copy.bytes_read = static_cast<std::uint32_t>(thread.copies.bytes_read_behind(before));
  copy.end = thread.copies.begun();
  read_source(block, thread, instruction, copy);
  copy.begin = snapshot(block, thread);
  block.async.copies[&thread].push_back(std::move(copy));
}

void LaunchWatch::begin_bulk_copy(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const Annotation& annotation = *instruction.annotation;
  instruction.execute(thread, instruction);
  const bool is_load = annotation.kind == Annotation::Kind::bulk_load;
  const BulkOperands operands = bulk_operands(thread, instruction, is_load);
  WatchedCopy copy;
  copy.thread = &thread;
  copy.site = annotation.site;
  copy.reduces = annotation.is_strong;
  copy.to_space = is_load ? Space::shared : Space::global;
  copy.to = is_load ? in_own_block(thread, instruction, operands.to) : operands.to;
  copy.from_space = annotation.space;
  copy.from =
      annotation.space == Space::shared ? in_own_block(thread, instruction, operands.from) : operands.from;
  copy.bytes = copy.bytes_read = operands.bytes;
  copy.end = thread.bulk_copies.begun();
  read_source(block, thread, instruction, copy);
  copy.begin = snapshot(block, thread);
  if (is_load) {
    block.async.promises.push_back(
        {in_own_block(thread, instruction, operands.mbarrier), true, {std::move(copy)}});
  } else {
    block.async.bulk_copies[&thread].push_back(std::move(copy));
  }
}

// Each piece of the box is a copy of its own.
void LaunchWatch::begin_tensor_copy(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  instruction.execute(thread, instruction);
  const bool is_load = instruction.annotation->kind == Annotation::Kind::tensor_load;
  std::vector<WatchedCopy> copies;
  for (const TensorPiece& piece : pieces_of_tensor_copy(thread, instruction, is_load)) {
    if (!is_load && !piece.global) continue;
    WatchedCopy copy;
    copy.thread = &thread;
    copy.site = instruction.annotation->site;
    copy.reduces = instruction.annotation->is_strong;
    copy.bytes = piece.bytes;
    copy.to = in_own_block(thread, instruction, piece.shared);
    copy.from = piece.global.value_or(0);
    copy.bytes_read = piece.global ? piece.bytes : 0;
    if (!is_load) {
      std::swap(copy.to_space, copy.from_space);
      std::swap(copy.to, copy.from);
    }
    copy.end = thread.bulk_copies.begun();
    read_source(block, thread, instruction, copy);
    copies.push_back(std::move(copy));
  }
  const std::shared_ptr<const Release> begin = snapshot(block, thread);
  for (WatchedCopy& copy : copies) copy.begin = begin;
  if (is_load) {
    const std::uint64_t place =
        in_own_block(thread, instruction, mbarrier_of_tensor_copy(thread, instruction));
    block.async.promises.push_back({place, true, std::move(copies)});
  } else {
    std::vector<WatchedCopy>& all = block.async.bulk_copies[&thread];
    all.insert(all.end(), std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
  }
}

void LaunchWatch::wait_for_copies(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  instruction.execute(thread, instruction);
  settle_copies(block, thread, tools_.race ? block.races.clocks.clock(thread.linear) : 0);
}

// What has happened by now of the copies of a thread.
void LaunchWatch::settle_copies(BlockWatch& block, Thread& thread, std::uint32_t clock) {
  const auto settle = [&](std::map<Thread*, std::vector<WatchedCopy>>& of_threads, const CopyQueue& queue) {
    const auto known = of_threads.find(&thread);
    if (known == of_threads.end()) return;
    for (WatchedCopy& copy : known->second) {
      if (copy.end <= queue.read()) finish_reading(block, copy);
      if (copy.end <= queue.happened()) finish_copy(block, copy, clock);
    }
    std::erase_if(known->second, [&](const WatchedCopy& copy) { return copy.end <= queue.happened(); });
  };
  settle(block.async.copies, thread.copies);
  settle(block.async.bulk_copies, thread.bulk_copies);
}

void LaunchWatch::finish_copy(BlockWatch& block, WatchedCopy& copy, std::uint32_t clock) {
  watched_copies::for_each_piece(copy.bytes, [&](std::uint32_t done, std::uint32_t bytes) {
    const Annotation how = watched_copies::annotation_of(Annotation::Kind::store, copy, bytes);
    WatchedAccess access{&how, how.space, copy.to + done, copy.thread->linear};
    for (const CarriedBytes& part : copy.unwritten) {
      if (part.offset == done) access.stored = part.unwritten;
    }
    if (tools_.race) {
      races_.finish_copy(block.races, access, *copy.begin, clock, [&](const RaceDetector::Race& race) {
        report_race(*copy.thread, access, race, watched_copies::kHint);
      });
    }
    if (tools_.stream && copy.to_space == Space::global)
      accessed_.add(access.address, bytes, true, copy.reduces, copy.site);
    if (tools_.init) look_for_unwritten(block, *copy.thread, access);
  });
}

void LaunchWatch::finish_reading(BlockWatch& block, WatchedCopy& copy) {
  if (!tools_.race || std::exchange(copy.is_read, true)) return;
  watched_copies::for_each_piece(copy.bytes_read, [&](std::uint32_t done, std::uint32_t bytes) {
    const Annotation how = watched_copies::annotation_of(Annotation::Kind::load, copy, bytes);
    const WatchedAccess access{&how, how.space, copy.from + done, copy.thread->linear};
    races_.finish_reading(block.races, access, *copy.begin, [&](const RaceDetector::Race& race) {
      report_race(*copy.thread, access, race, watched_copies::kHint);
    });
  });
}

// Copies that nothing has waited for happen at the end.
void LaunchWatch::exit(BlockWatch& block, Thread& thread) {
  settle_copies(block, thread, tools_.race ? block.races.clocks.clock(thread.linear) : 0);
  ++block.async.exited;
  release_to_cluster(block);
  if (block.async.exited < launch_.block.count()) return;
  block.cluster->blocks[thread.block->rank()] = nullptr;
  for (WatchedPromise& promise : std::exchange(block.async.promises, {})) keep(block, promise);
}

}  // namespace opgate::simulator
