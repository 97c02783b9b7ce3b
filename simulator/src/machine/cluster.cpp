#include "machine/cluster.h"

#include "machine/block.h"

namespace opgate::simulator {

void Cluster::complete_if_all_have_arrived() {
  std::size_t alive = 0;
  for (const Block* const block : blocks_) alive += block == nullptr ? 0 : block->threads_alive();
  if (arrived_ == 0 || arrived_ < alive) return;
  arrived_ = 0;
  ++phase_;
}

}  // namespace opgate::simulator
