// Products of `wgmma`. They read shared memory at any time between their begin and the end of a wait for
// them, by the async proxy.
#include <utility>

#include "instructions/wgmma.h"
#include "machine/block.h"
#include "machine/memory/memory.h"
#include "watch/block_watch.h"

namespace opgate::simulator {

void BlockWatch::begin_product(Thread& thread, const Instruction& instruction) {
  WatchedProducts& products = async_.products[&thread];
  emit(&BlockTool::issue_product, thread, instruction, products.groups);
  WatchedProduct product;
  begin(product, thread, instruction);
  product.group = products.groups;
  if (thread.lane == 0) {
    product.units = units_of_product(thread, instruction);
    read_of_product(thread, product);
    emit(&BlockTool::begin_async, product);
    product.has_begun = true;
  }
  products.begun.push_back(std::move(product));
}

// When the product begins, and once more when it is waited for. Each unit of 16 bytes is read by itself.
void BlockWatch::read_of_product(Thread& thread, const WatchedProduct& product) {
  Annotation how;
  how.kind = Annotation::Kind::load;
  how.space = Space::shared;
  how.bytes = 16;
  how.lanes = 0;
  how.number(product.site);
  for (const UnitOfProduct& unit : product.units) {
    // A fault of the kernel.
    if (unit.address + how.bytes > thread.block->shared_bytes()) return;
    emit(&BlockTool::read_of_product, product,
         WatchedAccess{&how, Space::shared, unit.address, thread.linear});
  }
}

void BlockWatch::wait_for_products(Thread& thread, const Instruction& instruction) {
  WatchedProducts& products = async_.products[&thread];
  const auto kept = read<std::uint32_t>(thread, instruction, 0);
  const std::uint64_t first_left = products.groups > kept ? products.groups - kept : 0;
  std::vector<WatchedProduct> others;
  for (WatchedProduct& product : std::exchange(products.begun, {})) {
    if (product.group >= first_left) {
      others.push_back(std::move(product));
    } else if (thread.lane == 0) {
      read_of_product(thread, product);
      emit(&BlockTool::end_async, product);
    }
  }
  products.begun = std::move(others);
  emit(&BlockTool::wait_for_products, thread, first_left);
}

}  // namespace opgate::simulator
