// What products of `wgmma` mean to the tools. They read shared memory at any time between their begin and the
// end of a wait for them, by the async proxy; and until then their registers belong to them.
#include <utility>

#include "simulator/instructions/wgmma.h"
#include "simulator/machine/memory.h"
#include "simulator/watch/launch_watch.h"
#include "simulator/watch/places.h"

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
    const auto touched = products.touched.find(slot);
    if (tools_.sync && products.has_fence && touched != products.touched.end())
      report_product(thread, site, touched->second,
                     " uses a register that the thread has used since the last wgmma.fence, so that nothing "
                     "orders them");
    products.in_flight[slot] = site;
  }
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
  for (const std::uint32_t address : product.units) {
    const WatchedAccess access{&how, Space::shared, address, thread.linear};
    // A fault of the kernel.
    if (address + how.bytes > thread.block->shared_bytes()) return;
    watch_access(block, thread, instruction_at(program_, product.site), access);
    if (product.begin == nullptr) {
      look_for_proxy_fence(block, thread, access);
      continue;
    }
    races_.finish_reading(block.races, access, *product.begin, [&](const RaceDetector::Race& race) {
      report_race(thread, access, race, watched_products::kHint);
    });
  }
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
  products.in_flight.clear();
  for (const WatchedProduct& product : products.begun) {
    for (const Slot slot : registers_of_product(instruction_at(program_, product.site)))
      products.in_flight[slot] = product.site;
  }
}

void LaunchWatch::use_registers(BlockWatch& block, const Thread& thread, const Instruction& instruction) {
  const auto known = block.async.products.find(&thread);
  if (known == block.async.products.end()) return;
  WatchedProducts& products = known->second;
  const std::uint32_t site = instruction.annotation->site;
  const Function& function = thread.function();
  const std::size_t slots = function.forms[site - function.first_number].total;
  for (std::size_t i = 0; i < slots; ++i) {
    const Slot slot = instruction.slot(i);
    products.touched[slot] = site;
    const auto product = products.in_flight.find(slot);
    if (product != products.in_flight.end())
      report_product(
          thread, site, product->second,
          " uses a register of a wgmma.mma_async, and no wgmma.wait_group has waited for its group");
  }
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
