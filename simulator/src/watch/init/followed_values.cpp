// What the tool `init` knows of values that came from unwritten memory. From the first such load on, a thread
// is followed: each of its registers has a mask of the bits that depend on what was read. A load is reported
// when its value matters: where it decides what is executed, is an address or a part of an atomic access, or
// is read by the host. A value that is replaced, masked or never read does not matter.
#include "watch/init/followed_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "instructions/moves_of_sums.h"
#include "machine/block.h"
#include "watch/init/init_of_block.h"
#include "watch/places.h"

namespace opgate::simulator {

Unwritten& InitOfBlock::value_in(const Thread& thread, Slot slot) {
  std::vector<Unwritten>& values = values_[thread.linear];
  const std::size_t at = thread.first_register() + static_cast<std::size_t>(slot);
  if (at >= values.size()) values.resize(thread.first_register() + thread.function().initial.size());
  return values[at];
}

Unwritten InitOfBlock::sources_of(const Thread& thread, const Instruction& instruction) {
  const OperandForm& form = thread.function().form_of(instruction);
  Unwritten all;
  for (std::size_t i = form.reads_results ? 0 : form.results; i < form.total; ++i) {
    const Unwritten& source = value_in(thread, instruction.slot(i));
    all.bits |= source.bits;
    if (source.bits != 0) all.loads = loads_.joined(all.loads, source.loads);
  }
  return all;
}

void InitOfBlock::set_results(const Thread& thread, const Instruction& instruction, const Unwritten& value) {
  const OperandForm& form = thread.function().form_of(instruction);
  for (std::size_t i = 0; i < form.results; ++i)
    value_in(thread, instruction.slot(i)) = {value.bits & form.flow.mask, value.loads};
}

void InitOfBlock::use(const Thread& thread, const Instruction& instruction, const Unwritten& value) {
  if (value.bits == 0 || !loads_.may_report(value.loads)) return;
  loads_.use(value.loads, {*instruction.text, location_in(launch_.program, instruction),
                           thread.block->index(), thread.index});
}

bool InitOfBlock::follow(Thread& thread, const Instruction& instruction) {
  const bool is_left_out = thread.leaves_out(instruction);
  if (instruction.guard >= 0) use(thread, instruction, value_in(thread, instruction.guard >> 1));
  if (is_left_out) return true;
  const auto execute_once = [&] {
    if (instruction.annotation != nullptr) {
      block_.execute(thread, instruction);
    } else {
      instruction.execute(thread, instruction);
    }
  };
  const OperandForm& form = thread.function().form_of(instruction);
  const Annotation::Kind kind =
      instruction.annotation == nullptr ? Annotation::Kind::none : instruction.annotation->kind;
  if (kind == Annotation::Kind::call || kind == Annotation::Kind::host_call ||
      kind == Annotation::Kind::leave_function || kind == Annotation::Kind::leave_kernel || form.flow.meets) {
    execute_once();
    return true;
  }
  const Unwritten sources = sources_of(thread, instruction);
  if (kind == Annotation::Kind::load || kind == Annotation::Kind::store) {
    use(thread, instruction, value_in(thread, instruction.slot(instruction.annotation->operand)));
    set_results(thread, instruction, {});
    execute_once();
  } else if (form.flow.matters) {
    use(thread, instruction, sources);
    set_results(thread, instruction, {});
    execute_once();
  } else if (sources.bits == 0) {
    execute_once();
    set_results(thread, instruction, {});
  } else if (form.flow.kind == ValueFlow::Kind::bits) {
    combine_bits(thread, instruction, sources.loads, execute_once);
  } else {
    std::uint64_t bits = followed_values::kAll;
    if (form.flow.kind == ValueFlow::Kind::factors && is_hidden_by_zero(thread, instruction)) bits = 0;
    if (form.flow.kind == ValueFlow::Kind::halves) bits = followed_values::whole_numbers(sources.bits, 16);
    if (form.flow.kind == ValueFlow::Kind::pack && form.total >= form.results + 2) {
      const auto is_unwritten = [&](std::size_t source) {
        return value_in(thread, instruction.slot(form.results + source)).bits != 0;
      };
      const std::uint64_t number = (std::uint64_t{1} << form.flow.bits) - 1;
      bits = (is_unwritten(0) ? number << form.flow.bits : 0) | (is_unwritten(1) ? number : 0);
    }
    execute_once();
    set_results(thread, instruction, {bits, sources.loads});
  }
  return true;
}

// Whether a factor is 0, and nothing is added that came from unwritten memory.
bool InitOfBlock::is_hidden_by_zero(const Thread& thread, const Instruction& in) {
  const OperandForm& form = thread.function().form_of(in);
  const std::size_t addend = form.results + 2u;
  if (addend < form.total && value_in(thread, in.slot(addend)).bits != 0) return false;
  const auto is_zero = [&](std::size_t slot) {
    const std::uint64_t value = thread.registers[in.slot(slot)];
    return value_in(thread, in.slot(slot)).bits == 0 && value << (64 - form.flow.bits) == 0;
  };
  return is_zero(form.results) || is_zero(form.results + 1u);
}

// The bits of the results that change with unwritten bits of the sources: for each choice of sources, all of
// their unwritten bits are turned over.
void InitOfBlock::combine_bits(Thread& thread, const Instruction& instruction, std::uint32_t loads,
                               const std::function<void()>& execute_once) {
  const OperandForm& form = thread.function().form_of(instruction);
  std::vector<std::pair<Slot, std::uint64_t>> changing;
  for (std::size_t i = form.results; i < form.total; ++i) {
    const Slot slot = instruction.slot(i);
    const std::uint64_t bits = value_in(thread, slot).bits;
    if (bits != 0 && std::ranges::find(changing, std::pair{slot, bits}) == changing.end())
      changing.emplace_back(slot, bits);
  }
  std::vector<std::uint64_t> results;
  std::vector<std::uint64_t> changed(form.results);
  {
    const followed_values::KeptRegisters kept(thread, instruction, form.total);
    execute_once();
    for (std::size_t i = 0; i < form.results; ++i) results.push_back(thread.registers[instruction.slot(i)]);
    for (std::size_t choice = 1; choice < std::size_t{1} << changing.size(); ++choice) {
      kept.restore();
      for (std::size_t i = 0; i < changing.size(); ++i) {
        if ((choice >> i & 1) != 0) thread.registers[changing[i].first] ^= changing[i].second;
      }
      plain_handler(instruction)(thread, instruction);
      for (std::size_t i = 0; i < form.results; ++i)
        changed[i] |= thread.registers[instruction.slot(i)] ^ results[i];
    }
  }
  for (std::size_t i = 0; i < form.results; ++i) {
    thread.registers[instruction.slot(i)] = results[i];
    value_in(thread, instruction.slot(i)) = {changed[i], changed[i] != 0 ? loads : 0};
  }
}

}  // namespace opgate::simulator
