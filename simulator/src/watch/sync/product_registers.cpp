#include "watch/sync/product_registers.h"

#include <optional>
#include <utility>

#include "instructions/moves_of_sums.h"
#include "instructions/wgmma.h"
#include "watch/annotations.h"

namespace opgate::simulator {

void ProductRegisters::issue_product(const Thread& thread, const Instruction& instruction,
                                     std::uint64_t group) {
  const std::uint32_t site = instruction.annotation->site;
  OfThread& registers = of_threads_[&thread];
  if (!registers.has_fence)
    report(thread, site, 0,
           " without a wgmma.fence before it, which orders it behind the thread's use of registers");
  for (const Slot slot : registers_of_product(instruction)) {
    const auto used = registers.used.find(slot);
    if (registers.has_fence && used != registers.used.end())
      report(thread, site, used->second.site,
             " uses a register that the thread has used since the last wgmma.fence, so that nothing "
             "orders them");
  }
  // Products may share registers, but not use what a move has taken from another one.
  for (const Slot slot : registers_of_product(instruction)) {
    const auto used = registers.in_flight.find(slot);
    if (used != registers.in_flight.end() && used->second.is_copy) report_use(thread, site, used->second);
  }
  for (const Slot slot : registers_of_product(instruction))
    registers.in_flight[slot] = {site, group, /*is_copy=*/false};
}

void ProductRegisters::fence(const Thread& thread) {
  OfThread& registers = of_threads_[&thread];
  registers.used.clear();
  registers.has_fence = true;
}

void ProductRegisters::wait(const Thread& thread, std::uint64_t first_left) {
  const auto known = of_threads_.find(&thread);
  if (known == of_threads_.end()) return;
  std::erase_if(known->second.in_flight, [&](const auto& each) { return each.second.group < first_left; });
}

// What a move gives to a register is that which arithmetic has left in its source: ptxas makes both one
// register, so that compilers place moves without regard to fences.
void ProductRegisters::note_use(OfThread& registers, const Function& function, const Instruction& in,
                                const OperandForm& form) {
  const Annotation& how = *in.annotation;
  Used source;
  for (std::size_t i = how.results; i < form.total; ++i) {
    const Slot slot = in.slot(i);
    if (!how.only_moves) {
      registers.used.try_emplace(slot, Used{how.site, /*is_written=*/false});
    } else if (const auto used = registers.used.find(slot); used != registers.used.end()) {
      if (used->second.is_written) source = used->second;
    }
  }
  for (std::size_t i = 0; i < how.results; ++i) {
    const Slot slot = in.slot(i);
    if (slot == function.nowhere) continue;
    if (!how.only_moves) {
      registers.used[slot] = {how.site, /*is_written=*/true};
    } else if (source.is_written) {
      registers.used[slot] = source;
    } else {
      registers.used.erase(slot);
    }
  }
}

// A move of a register in flight gives its copy to the product as well.
void ProductRegisters::use(const Thread& thread, const Instruction& instruction) {
  const auto known = of_threads_.find(&thread);
  if (known == of_threads_.end()) return;
  OfThread& registers = known->second;
  const std::uint32_t site = instruction.annotation->site;
  const Function& function = thread.function();
  const OperandForm& form = function.form_of(instruction);
  note_use(registers, function, instruction, form);
  const std::size_t results = instruction.execute == &execute_move_of_sums ? form.first : form.total;
  std::optional<InFlight> moved;
  for (std::size_t i = results; i < form.total; ++i) {
    const auto source = registers.in_flight.find(instruction.slot(i));
    if (source != registers.in_flight.end() && (!moved || source->second.group > moved->group))
      moved = source->second;
  }
  for (std::size_t i = 0; i < results; ++i) {
    const Slot slot = instruction.slot(i);
    const auto used = registers.in_flight.find(slot);
    if (used != registers.in_flight.end() && !(moved && used->second.is_copy))
      report_use(thread, site, used->second);
    if (moved && slot != function.nowhere)
      registers.in_flight[slot] = {moved->site, moved->group, /*is_copy=*/true};
  }
}

void ProductRegisters::report_use(const Thread& thread, std::uint32_t site, const InFlight& used) const {
  report(thread, site, used.site,
         used.is_copy
             ? " uses a copy of a register of a wgmma.mma_async, and no wgmma.wait_group has waited for its "
               "group"
             : " uses a register of a wgmma.mma_async, and no wgmma.wait_group has waited for its group");
}

void ProductRegisters::report(const Thread& thread, std::uint32_t site, std::uint32_t other,
                              const std::string& message) const {
  if (!launch_.is_new(Finding::Kind::sync, site, other)) return;
  Finding finding;
  finding.kind = Finding::Kind::sync;
  finding.message = *launch_.instruction_at(site).text + message;
  finding.place = launch_.place_of(thread, site);
  if (other != 0) finding.other = launch_.place_of(thread, other);
  launch_.add(std::move(finding));
}

}  // namespace opgate::simulator
