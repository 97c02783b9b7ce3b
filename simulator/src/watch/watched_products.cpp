// What products of `wgmma` mean to the tools. They read shared memory at any time between their begin and the
// end of a wait for them, by the async proxy; and until then their registers belong to them.
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "instructions/moves_of_sums.h"
#include "instructions/wgmma.h"
#include "machine/memory.h"
#include "watch/launch_watch.h"
#include "watch/places.h"

namespace opgate::simulator {
namespace watched_products {

constexpr const char* kHint =
    "; a product may read its matrices at any time between its begin and the end of a wait for it";

// Each unit of 16 bytes is read by itself.
Annotation annotation_of(std::uint32_t site) {
  Annotation annotation;
  annotation.kind = Annotation::Kind::load;
  annotation.space = Space::shared;
  annotation.bytes = 16;
  annotation.lanes = 0;
  annotation.number(site);
  return annotation;
}

}  // namespace watched_products

void LaunchWatch::begin_product(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  const std::uint32_t site = instruction.annotation->site;
  WatchedProducts& products = block.async.products[&thread];
  WatchedProduct product{site, products.groups, {}, nullptr};
  if (tools_.sync && !products.has_fence)
    report_product(thread, site, 0,
                   " without a wgmma.fence before it, which orders it behind the thread's use of registers");
  for (const Slot slot : registers_of_product(instruction)) {
    const auto used = products.used.find(slot);
    if (tools_.sync && products.has_fence && used != products.used.end())
      report_product(thread, site, used->second.site,
                     " uses a register that the thread has used since the last wgmma.fence, so that nothing "
                     "orders them");
  }
  if (tools_.sync) report_copies(block, thread, instruction);
  for (const Slot slot : registers_of_product(instruction))
    products.in_flight[slot] = {site, products.groups, /*is_copy=*/false};
  if (thread.lane == 0) {
    product.units = units_of_product(thread, instruction);
    read_of_product(block, thread, product);
    product.begin = snapshot(block, thread);
  }
  products.begun.push_back(std::move(product));
}

// When the product begins, and once more when it is waited for.
void LaunchWatch::read_of_product(BlockWatch& block, Thread& thread, const WatchedProduct& product) {
  const Annotation how = watched_products::annotation_of(product.site);
  for (const UnitOfProduct& unit : product.units) {
    const WatchedAccess access{&how, Space::shared, unit.address, thread.linear};
    // A fault of the kernel.
    if (unit.address + how.bytes > thread.block->shared_bytes()) return;
    const Unwritten read = watch_access(block, thread, instruction_at(program_, product.site), access);
    if (read.bits != 0) thread.is_followed = true;
    if (product.begin == nullptr) {
      look_for_proxy_fence(block, thread, access);
      continue;
    }
    races_.finish_reading(block.races, access, *product.begin, [&](const RaceDetector::Race& race) {
      report_race(thread, access, race, watched_products::kHint);
    });
  }
}

// A sum depends on a row of `a`, on a column of `b` and, if the product is added, on what it was.
void LaunchWatch::follow_product(BlockWatch& block, std::span<Thread* const> lanes) {
  const Thread& first = *lanes.front();
  const Instruction& in = first.current();
  const Annotation how = watched_products::annotation_of(in.annotation->site);
  std::map<unsigned, std::uint32_t> rows;  // the loads of each
  std::map<unsigned, std::uint32_t> columns;
  for (const UnitOfProduct& unit : block.async.products[&first].begun.back().units) {
    const WatchedAccess access{&how, Space::shared, unit.address, first.linear};
    const std::uint32_t unwritten = block.shared.unwritten(unit.address, how.bytes);
    if (unwritten == 0) continue;
    for (unsigned line = unit.first; line < unit.first + unit.count; ++line) {
      std::uint32_t& loads = unit.is_of_a ? rows[line] : columns[line];
      loads = loads_.joined(loads, known_loads(block.shared, access, unwritten));
    }
  }
  const auto [begin_of_a, end_of_a] = registers_of_a(in);
  for (Thread* thread : lanes) {
    for (std::size_t i = begin_of_a; i < end_of_a; ++i) {
      const Unwritten& value = value_in(block, *thread, in.slot(i));
      if (value.bits == 0) continue;
      std::uint32_t& loads = rows[thread->lane / 4 + (i - begin_of_a) % 2 * 8];
      loads = loads_.joined(loads, value.loads);
    }
    for (std::size_t i = registers_of_product(in).size(); i < form_at(*thread, in).total; ++i)
      use(*thread, in, value_in(block, *thread, in.slot(i)));
  }
  const bool adds = adds_to_sums(first, in);
  for_each_sum_of_product(in, [&](const SumOfProduct& sum) {
    Thread& thread = *lanes[sum.lane];
    Unwritten& value = value_in(block, thread, in.slot(sum.operand));
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

void LaunchWatch::wait_for_products(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  WatchedProducts& products = block.async.products[&thread];
  const auto kept = read<std::uint32_t>(thread, instruction, 0);
  std::vector<WatchedProduct> others;
  for (WatchedProduct& product : std::exchange(products.begun, {})) {
    if (product.group + kept >= products.groups) {
      others.push_back(std::move(product));
    } else if (thread.lane == 0) {
      read_of_product(block, thread, product);
    }
  }
  products.begun = std::move(others);
  std::erase_if(products.in_flight,
                [&](const auto& each) { return each.second.group + kept < products.groups; });
}

namespace watched_products {

// What a move gives to a register is that which arithmetic has left in its source: ptxas makes both one
// register, so that compilers place moves without regard to fences.
void note_use(WatchedProducts& products, const Function& function, const Instruction& in,
              const OperandForm& form) {
  const Annotation& how = *in.annotation;
  UsedRegister source;
  for (std::size_t i = how.results; i < form.total; ++i) {
    const Slot slot = in.slot(i);
    if (!how.only_moves) {
      products.used.try_emplace(slot, UsedRegister{how.site, /*is_written=*/false});
    } else if (const auto used = products.used.find(slot); used != products.used.end()) {
      if (used->second.is_written) source = used->second;
    }
  }
  for (std::size_t i = 0; i < how.results; ++i) {
    const Slot slot = in.slot(i);
    if (slot == function.nowhere) continue;
    if (!how.only_moves) {
      products.used[slot] = {how.site, /*is_written=*/true};
    } else if (source.is_written) {
      products.used[slot] = source;
    } else {
      products.used.erase(slot);
    }
  }
}

}  // namespace watched_products

// A move of a register in flight gives its copy to the product as well.
void LaunchWatch::use_registers(BlockWatch& block, const Thread& thread, const Instruction& instruction) {
  const auto known = block.async.products.find(&thread);
  if (known == block.async.products.end()) return;
  WatchedProducts& products = known->second;
  const std::uint32_t site = instruction.annotation->site;
  const Function& function = thread.function();
  const OperandForm& form = function.forms[site - function.first_number];
  watched_products::note_use(products, function, instruction, form);
  const std::size_t results = instruction.execute == &execute_move_of_sums ? form.first : form.total;
  std::optional<RegisterInFlight> moved;
  for (std::size_t i = results; i < form.total; ++i) {
    const Slot slot = instruction.slot(i);
    const auto source = products.in_flight.find(slot);
    if (source != products.in_flight.end() && (!moved || source->second.group > moved->group))
      moved = source->second;
  }
  for (std::size_t i = 0; i < results; ++i) {
    const Slot slot = instruction.slot(i);
    const auto used = products.in_flight.find(slot);
    if (used != products.in_flight.end() && !(moved && used->second.is_copy))
      report_use_in_flight(thread, site, used->second);
    if (moved && slot != function.nowhere)
      products.in_flight[slot] = {moved->site, moved->group, /*is_copy=*/true};
  }
}

// Products may share registers, but not use what a move has taken from another one.
void LaunchWatch::report_copies(BlockWatch& block, const Thread& thread, const Instruction& instruction) {
  const WatchedProducts& products = block.async.products[&thread];
  for (const Slot slot : registers_of_product(instruction)) {
    const auto used = products.in_flight.find(slot);
    if (used != products.in_flight.end() && used->second.is_copy)
      report_use_in_flight(thread, instruction.annotation->site, used->second);
  }
}

void LaunchWatch::report_use_in_flight(const Thread& thread, std::uint32_t site,
                                       const RegisterInFlight& used) {
  report_product(
      thread, site, used.site,
      used.is_copy
          ? " uses a copy of a register of a wgmma.mma_async, and no wgmma.wait_group has waited for its "
            "group"
          : " uses a register of a wgmma.mma_async, and no wgmma.wait_group has waited for its group");
}

void LaunchWatch::report_product(const Thread& thread, std::uint32_t site, std::uint32_t other,
                                 const std::string& message) {
  if (!findings_.is_new(Finding::Kind::sync, launch_.kernel, site, other)) return;
  Finding finding;
  finding.kind = Finding::Kind::sync;
  finding.message = *instruction_at(program_, site).text + message;
  finding.place = place_of(thread, site);
  if (other != 0) finding.other = place_of(thread, other);
  add(std::move(finding));
}

// Writes that nothing orders before the read are races of their own.
void LaunchWatch::look_for_proxy_fence(BlockWatch& block, const Thread& thread, const WatchedAccess& access) {
  if (!tools_.race || access.space != Space::shared) return;
  races_.for_each_write(block.races, access, [&](const AccessRecord& write) {
    if (write.block != block.races.clocks.block()) return;
    const Annotation* const how = instruction_at(program_, write.site()).annotation;
    using Kind = Annotation::Kind;
    if (how == nullptr || how->kind == Kind::bulk_load || how->kind == Kind::tensor_load) return;
    const BlockClocks& clocks = block.races.clocks;
    if (write.thread() != thread.linear && !clocks.knows(thread.linear, write)) return;
    if (block.proxy_fences.order(clocks, write, thread.linear)) return;
    if (!findings_.is_new(Finding::Kind::race, launch_.kernel, access.annotation->site, write.site())) return;
    Finding finding;
    finding.kind = Finding::Kind::race;
    finding.other = in_flight_.place_of(write);
    finding.place = place_of(thread, access.annotation->site);
    finding.message = finding.place.instruction + " reads by the async proxy what " +
                      finding.other->instruction + " of thread " + in_words(finding.other->thread) +
                      " has written, and no fence.proxy.async makes it visible there";
    finding.address = access.address;
    finding.bytes = access.annotation->bytes;
    finding.space = "shared";
    add(std::move(finding));
  });
}

}  // namespace opgate::simulator
