#include "watch/init/init_of_block.h"

#include <bit>
#include <string>
#include <utility>

namespace opgate::simulator {

void InitOfBlock::begin(const Extent& /*index*/, std::size_t shared_bytes) {
  const std::size_t threads = launch_.launch.block.count();
  shared_.start(shared_bytes);
  values_.assign(threads, {});
  local_.resize(threads);
  for (WrittenBits& local : local_) local.start(launch_.program.functions.front()->local_bytes);
  carried_.clear();
}

Finding InitOfBlock::finding_of_load(const Thread& thread, const WatchedAccess& access,
                                     std::uint32_t unwritten) const {
  const char* const space = name_of(access.space);
  const int bytes = std::popcount(unwritten);
  Finding finding;
  finding.kind = Finding::Kind::init;
  finding.kernel = launch_.launch.kernel;
  finding.message = *launch_.instruction_at(access.annotation->site).text + " reads " +
                    std::to_string(bytes) + (bytes == 1 ? " byte of " : " bytes of ") + space +
                    " memory that was not written";
  finding.address = access.address + static_cast<std::uint64_t>(std::countr_zero(unwritten));
  finding.bytes = static_cast<std::size_t>(bytes);
  finding.space = space;
  finding.place = launch_.place_of(thread, access.annotation->site);
  return finding;
}

template <class Memory>
Unwritten InitOfBlock::meet_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                                      std::uint32_t bytes) {
  // Where a kernel has stored them, the loads before it are meant.
  bool is_of_this = false;
  std::uint32_t loads = 0;
  for (std::uint32_t left = bytes; left != 0; left &= left - 1) {
    const std::uint32_t stored =
        memory.loads_of(access.address + static_cast<unsigned>(std::countr_zero(left)));
    is_of_this |= stored == 0;
    loads = loads_.joined(loads, stored);
  }
  if (is_of_this) {
    loads = loads_.joined(
        loads, loads_.meet(access.annotation->site, [&] { return finding_of_load(thread, access, bytes); }));
  }
  if (!loads_.may_report(loads)) return {};
  // An atomic access uses at once what it reads.
  const Annotation::Kind kind = access.annotation->kind;
  if (kind != Annotation::Kind::load) {
    use(thread, launch_.instruction_at(access.annotation->site), {bytes, loads});
    return {};
  }
  return {bytes, loads};
}

std::uint32_t InitOfBlock::known_loads(std::uint32_t site, std::uint64_t address, std::uint32_t bytes) {
  std::uint32_t loads = 0;
  for (; bytes != 0; bytes &= bytes - 1) {
    const std::uint32_t stored = shared_.loads_of(address + static_cast<unsigned>(std::countr_zero(bytes)));
    loads = loads_.joined(loads, stored != 0 ? stored : loads_.met(site));
  }
  return loads;
}

template <class Memory>
void InitOfBlock::store_unwritten(Memory& memory, const Thread& thread, const WatchedAccess& access,
                                  const Unwritten& stored) {
  if (!loads_.may_report(stored.loads)) return;
  if (access.space == Space::global && launch_.observer.is_host_memory(access.address)) {
    use(thread, launch_.instruction_at(access.annotation->site), stored);
  } else {
    memory.store_unwritten(access.address, stored);
  }
}

template <class Memory>
Unwritten InitOfBlock::look_in(Memory& memory, const Thread& thread, const WatchedAccess& access,
                               const Unwritten& stored) {
  const Annotation& how = *access.annotation;
  Unwritten read;
  if (how.kind != Annotation::Kind::store) {
    const std::uint32_t bytes = memory.unwritten(access.address, how.bytes);
    if (bytes != 0) read = meet_unwritten(memory, thread, access, bytes);
  }
  if (how.kind != Annotation::Kind::load) memory.store(access.address, how.bytes);
  if (stored.bits != 0) store_unwritten(memory, thread, access, stored);
  return read;
}

Unwritten InitOfBlock::look(const Thread& thread, const WatchedAccess& access, const Unwritten& stored) {
  if (access.space == Space::shared) return look_in(shared_, thread, access, stored);
  if (access.space == Space::local) return look_in(local_[thread.linear], thread, access, stored);
  return look_in(memory_, thread, access, stored);
}

void InitOfBlock::access(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                         BlockTool& owner) {
  const Annotation& how = *access.annotation;
  Unwritten stored;
  if (thread.is_followed && how.kind == Annotation::Kind::store)
    stored = how.is_fragment ? stored_element(thread, instruction, access) : stored_by(thread, instruction);
  const Unwritten read = static_cast<InitOfBlock&>(owner).look(thread, access, stored);
  if (how.is_fragment) {
    elements_ = access.element + 1;
    if (read.bits != 0) fragment_.push_back({access.element, how.bytes, read});
  } else if (read.bits != 0) {
    take_in(thread, instruction, read);
  }
}

void InitOfBlock::read_of_copy(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) {
  const Unwritten read = look(*copy.thread, access, {});
  if (read.bits == 0) return;
  if (copy.reduces) {
    use(*copy.thread, launch_.instruction_at(copy.site), read);
  } else {
    carried_[copy.number].push_back({offset, read});
  }
}

void InitOfBlock::finish_writing(const WatchedCopy& copy, std::uint32_t offset, const WatchedAccess& access) {
  Unwritten stored;
  if (const auto carried = carried_.find(copy.number); carried != carried_.end()) {
    for (const CarriedBytes& part : carried->second) {
      if (part.offset == offset) stored = part.unwritten;
    }
  }
  look(*copy.thread, access, stored);
}

void InitOfBlock::read_of_product(const WatchedProduct& product, const WatchedAccess& access) {
  if (look(*product.thread, access, {}).bits != 0) product.thread->is_followed = true;
}

}  // namespace opgate::simulator
