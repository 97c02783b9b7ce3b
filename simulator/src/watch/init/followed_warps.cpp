// What instructions that a warp executes together do with values that came from unwritten memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "instructions/wgmma.h"
#include "machine/block.h"
#include "machine/memory/memory.h"
#include "watch/init/followed_values.h"
#include "watch/init/init_of_block.h"

namespace opgate::simulator {

// The lanes `here` of a warp are about to execute an instruction together.
void InitOfBlock::meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t /*named*/) {
  const auto is_followed = [](const Thread* thread) { return thread->is_followed; };
  if (std::ranges::none_of(lanes, is_followed)) return;
  std::vector<Thread*> threads;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if ((here >> lane & 1) != 0) threads.push_back(lanes[lane]);
  }
  if (std::ranges::none_of(threads, is_followed)) return;
  const Instruction& first = threads.front()->current();
  const OperandForm& form = threads.front()->function().form_of(first);
  Unwritten all;
  for (const Thread* thread : threads) {
    const Unwritten sources = sources_of(*thread, thread->current());
    all = {all.bits | sources.bits, loads_.joined(all.loads, sources.loads)};
  }
  // What decides which lane's value comes.
  const bool is_decided =
      form.flow.kind == ValueFlow::Kind::shuffle && std::ranges::any_of(threads, [&](auto* thread) {
        for (std::size_t i = form.results + 1u; i < form.total; ++i) {
          if (value_in(*thread, thread->current().slot(i)).bits != 0) return true;
        }
        return false;
      });
  const Annotation* const how = first.annotation;
  const bool moves_matrix = how != nullptr && how->rows != 0 && how->lanes == 0 && !how->is_fragment &&
                            (how->kind == Annotation::Kind::load || how->kind == Annotation::Kind::store);
  if (moves_matrix) {
    move_matrix(lanes, here);
  } else if (how != nullptr && how->kind == Annotation::Kind::load) {
    return;  // Each thread has set what it loads when it came.
  } else if (how != nullptr && how->kind == Annotation::Kind::product) {
    follow_product(lanes);
  } else if (all.bits == 0) {
    for (const Thread* thread : threads) set_results(*thread, thread->current(), {});
  } else if ((form.flow.kind == ValueFlow::Kind::shuffle && !is_decided) ||
             form.flow.kind == ValueFlow::Kind::product) {
    move_masks(lanes, here, all.loads);
  } else if (form.flow.kind == ValueFlow::Kind::integer_product) {
    follow_integer_product(lanes, all.loads);
  } else {
    for (Thread* thread : threads) {
      set_results(*thread, thread->current(), {followed_values::kAll, all.loads});
      thread->is_followed = true;
    }
  }
}

// The instruction is executed with the masks instead of the values: a shuffle moves them, and as factors
// of a product, masks of whole numbers are NaN.
void InitOfBlock::move_masks(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t loads) {
  using followed_values::KeptRegisters;
  std::vector<std::unique_ptr<KeptRegisters>> kept;
  const Thread& first = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  const bool is_product = first.function().form_of(first.current()).flow.kind == ValueFlow::Kind::product;
  const auto for_each = [&](const auto& action) {
    for (std::uint32_t left = here; left != 0; left &= left - 1) {
      Thread& thread = *lanes[static_cast<std::size_t>(std::countr_zero(left))];
      action(thread, thread.current(), thread.function().form_of(thread.current()));
    }
  };
  for_each([&](Thread& thread, const Instruction& in, const OperandForm& form) {
    kept.push_back(std::make_unique<KeptRegisters>(thread, in, form.total));
    for (std::size_t i = form.results; i < (is_product ? form.total : form.results + 1u); ++i)
      thread.registers[in.slot(i)] = value_in(thread, in.slot(i)).bits;
  });
  first.collective(lanes.data(), here);
  for_each([&](Thread& thread, const Instruction& in, const OperandForm& form) {
    set_results(thread, in, {});
    for (std::size_t i = 0; i < (is_product ? form.results : 1u); ++i) {
      const std::uint64_t moved = thread.registers[in.slot(i)];
      const std::uint64_t bits = is_product ? followed_values::whole_numbers(moved, form.flow.bits) : moved;
      value_in(thread, in.slot(i)) = {bits, bits != 0 ? loads : 0};
      thread.is_followed = thread.is_followed || bits != 0;
    }
  });
}

// The instruction is executed with 0 for zeros, 1 for other factors, and 1 or 2 for
// those that came from unwritten memory: on these depend the sums that differ.
void InitOfBlock::follow_integer_product(std::span<Thread* const> lanes, std::uint32_t loads) {
  const auto sums_with = [&](std::uint8_t unwritten) {
    std::vector<std::unique_ptr<followed_values::KeptRegisters>> kept;
    for (Thread* thread : lanes) {
      const Instruction& in = thread->current();
      const OperandForm& form = thread->function().form_of(in);
      kept.push_back(std::make_unique<followed_values::KeptRegisters>(*thread, in, form.total));
      const std::size_t end_of_factors = form.total - form.results;
      for (std::size_t i = form.results; i < form.total; ++i) {
        const std::uint64_t mask = value_in(*thread, in.slot(i)).bits;
        std::uint64_t& value = thread->registers[in.slot(i)];
        if (i < end_of_factors) {
          value = followed_values::small_factors(value, mask, unwritten);
        } else if (mask != 0) {
          value = unwritten;
        }
      }
    }
    lanes.front()->collective(lanes.data(), ~std::uint32_t{0});
    std::vector<std::uint64_t> sums;
    for (const Thread* thread : lanes) {
      const Instruction& in = thread->current();
      for (std::size_t i = 0; i < thread->function().form_of(in).results; ++i)
        sums.push_back(thread->registers[in.slot(i)]);
    }
    return sums;
  };
  const std::vector<std::uint64_t> once = sums_with(1);
  const std::vector<std::uint64_t> twice = sums_with(2);
  std::size_t at = 0;
  for (Thread* thread : lanes) {
    const Instruction& in = thread->current();
    for (std::size_t i = 0; i < thread->function().form_of(in).results; ++i, ++at) {
      const bool differs = once[at] != twice[at];
      value_in(*thread, in.slot(i)) = {differs ? followed_values::kAll : 0, differs ? loads : 0};
      thread->is_followed = thread->is_followed || differs;
    }
  }
}

// `ldmatrix` and `stmatrix` are executed with the masks instead of the rows, or of the registers.
void InitOfBlock::move_matrix(std::span<Thread* const> lanes, std::uint32_t here) {
  using followed_values::KeptRegisters;
  const Instruction& first = lanes.front()->current();
  const Annotation& how = *first.annotation;
  const bool is_load = how.kind == Annotation::Kind::load;
  struct Row {
    unsigned char* bytes;
    std::array<unsigned char, 16> before;
    InitOfBlock* owner;
    std::uint64_t address;
  };
  std::vector<Row> rows;
  std::uint32_t all = 0;
  for (unsigned lane = 0; lane < how.rows; ++lane) {
    Thread& thread = *lanes[lane];
    const WatchedAccess access = access_to(thread, how, address_in(thread, thread.current(), how.operand));
    use(thread, thread.current(), value_in(thread, thread.current().slot(how.operand)));
    InitOfBlock* const owner =
        access.space == Space::shared
            ? static_cast<InitOfBlock*>(block_.same_tool_of_owner(*this, thread, access))
            : nullptr;
    if (owner == nullptr || access.address % how.bytes != 0) return;
    const std::uint64_t address = access.address;
    thread.block->running_thread(thread.linear);
    Row row{locate<Space::shared, Access::load>(thread, thread.current(), access.named(), how.bytes),
            {},
            owner,
            address};
    std::memcpy(row.before.data(), row.bytes, row.before.size());
    const std::uint32_t unwritten = is_load ? owner->shared_.unwritten(address, how.bytes) : 0;
    if (unwritten != 0) all = loads_.joined(all, owner->known_loads(how.site, address, unwritten));
    for (unsigned i = 0; i < row.before.size(); ++i) row.bytes[i] = (unwritten >> i & 1) != 0 ? 0xff : 0;
    rows.push_back(row);
  }
  {
    std::vector<std::unique_ptr<KeptRegisters>> kept;
    for (Thread* thread : lanes) {
      const Instruction& in = thread->current();
      const OperandForm& form = thread->function().form_of(in);
      kept.push_back(std::make_unique<KeptRegisters>(*thread, in, form.total));
      for (std::size_t i = 1; i < form.total && !is_load; ++i) {
        const Unwritten& value = value_in(*thread, in.slot(i));
        thread->registers[in.slot(i)] = value.bits;
        if (value.bits != 0) all = loads_.joined(all, value.loads);
      }
    }
    lanes.front()->collective(lanes.data(), here);
    for (Thread* thread : lanes) {
      const Instruction& in = thread->current();
      for (std::size_t i = 0; i < thread->function().form_of(in).results; ++i) {
        const std::uint64_t bits = thread->registers[in.slot(i)];
        value_in(*thread, in.slot(i)) = {bits, bits != 0 ? all : 0};
        thread->is_followed = thread->is_followed || bits != 0;
      }
    }
  }
  for (const Row& row : rows) {
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < row.before.size(); ++i) {
      if (row.bytes[i] != 0) bytes |= std::uint64_t{1} << i;
    }
    if (!is_load && bytes != 0) row.owner->shared_.store_unwritten(row.address, {bytes, all});
    std::memcpy(row.bytes, row.before.data(), row.before.size());
  }
}

// A sum depends on a row of `a`, on a column of `b` and, if the product is added, on what it was.
void InitOfBlock::follow_product(std::span<Thread* const> lanes) {
  const Thread& first = *lanes.front();
  const Instruction& in = first.current();
  constexpr std::size_t kBytesOfUnit = 16;
  std::map<unsigned, std::uint32_t> rows;  // the loads of each
  std::map<unsigned, std::uint32_t> columns;
  for (const UnitOfProduct& unit : units_of_product(first, in)) {
    const std::uint32_t unwritten = shared_.unwritten(unit.address, kBytesOfUnit);
    if (unwritten == 0) continue;
    for (unsigned line = unit.first; line < unit.first + unit.count; ++line) {
      std::uint32_t& loads = unit.is_of_a ? rows[line] : columns[line];
      loads = loads_.joined(loads, known_loads(in.annotation->site, unit.address, unwritten));
    }
  }
  const auto [begin_of_a, end_of_a] = registers_of_a(in);
  for (Thread* thread : lanes) {
    for (std::size_t i = begin_of_a; i < end_of_a; ++i) {
      const Unwritten& value = value_in(*thread, in.slot(i));
      if (value.bits == 0) continue;
      std::uint32_t& loads = rows[thread->lane / 4 + (i - begin_of_a) % 2 * 8];
      loads = loads_.joined(loads, value.loads);
    }
    for (std::size_t i = registers_of_product(in).size(); i < thread->function().form_of(in).total; ++i)
      use(*thread, in, value_in(*thread, in.slot(i)));
  }
  const bool adds = adds_to_sums(first, in);
  for_each_sum_of_product(in, [&](const SumOfProduct& sum) {
    Thread& thread = *lanes[sum.lane];
    Unwritten& value = value_in(thread, in.slot(sum.operand));
    if (!adds) value.bits &= ~sum.bits;
    const auto row = rows.find(sum.row);
    const auto column = columns.find(sum.column);
    const std::uint32_t loads =
        loads_.joined(row == rows.end() ? 0 : row->second, column == columns.end() ? 0 : column->second);
    if (!loads_.may_report(loads)) return;
    value = {value.bits | sum.bits, loads_.joined(value.loads, loads)};
    thread.is_followed = true;
  });
}

}  // namespace opgate::simulator
