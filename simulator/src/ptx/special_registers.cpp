// %tid and its like.
#include <array>

#include "ptx/names.h"

namespace opgate::simulator {
namespace special_registers {

using Frame = FrameValue::Kind;

struct ByThread {
  std::string_view name;
  Frame kind;
};

constexpr std::array<ByThread, 16> kByThread{{
    {"%is_explicit_cluster", Frame::is_explicit_cluster},
    {"%cluster_ctarank", Frame::rank_in_cluster},
    {"%cluster_nctarank", Frame::cluster_size},
    {"%laneid", Frame::lane},
    {"%warpid", Frame::warp},
    {"%nwarpid", Frame::warps},
    {"%lanemask_eq", Frame::lane_mask_equal},
    {"%lanemask_lt", Frame::lane_mask_less},
    {"%lanemask_le", Frame::lane_mask_less_or_equal},
    {"%lanemask_gt", Frame::lane_mask_greater},
    {"%lanemask_ge", Frame::lane_mask_greater_or_equal},
    {"%dynamic_smem_size", Frame::dynamic_shared},
    {"%total_smem_size", Frame::total_shared},
    {"%aggr_smem_size", Frame::total_shared},
    {"%envreg1", Frame::workspace_high},
    {"%envreg2", Frame::workspace_low},
}};

// There is one multiprocessor.
struct Always {
  std::string_view name;
  std::uint64_t value;
};

constexpr std::array<Always, 6> kAlways{{
    {"%smid", 0},
    {"%nsmid", 1},
    {"%gridid", 0},
    {"%clock_hi", 0},
    {"%globaltimer_hi", 0},
    {"%current_graph_exec", 0},
}};

Named always(std::uint64_t value) { return {.kind = Named::Kind::constant, .value = value}; }

Named by_thread(Frame kind, std::uint64_t value = 0) {
  return {.kind = Named::Kind::frame_value, .value = value, .frame = kind};
}

Named of_axis(std::string_view name, std::uint64_t axis) {
  if (name == "%tid") return by_thread(Frame::thread_index, axis);
  if (name == "%ntid") return by_thread(Frame::block_extent, axis);
  if (name == "%ctaid") return by_thread(Frame::block_index, axis);
  if (name == "%nctaid") return by_thread(Frame::grid_extent, axis);
  if (name == "%clusterid") return by_thread(Frame::cluster_index, axis);
  if (name == "%nclusterid") return by_thread(Frame::clusters, axis);
  if (name == "%cluster_ctaid") return by_thread(Frame::index_in_cluster, axis);
  if (name == "%cluster_nctaid") return by_thread(Frame::cluster_extent, axis);
  return {};
}

}  // namespace special_registers

Named special_register(std::string_view name) {
  using namespace special_registers;
  if (name == "WARP_SZ") return always(32);
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer" || name == "%globaltimer_lo")
    return {.kind = Named::Kind::clock};
  for (const Always& known : kAlways) {
    if (name == known.name) return always(known.value);
  }
  for (const ByThread& known : kByThread) {
    if (name == known.name) return by_thread(known.kind);
  }
  if (name.starts_with("%envreg") || name.starts_with("%pm") || name.starts_with("%reserved_smem_offset_"))
    return always(0);
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot + 2 != name.size()) return {};
  const char axis = name[dot + 1];
  return axis >= 'x' && axis <= 'z' ? of_axis(name.substr(0, dot), static_cast<std::uint64_t>(axis - 'x'))
                                    : Named{};
}

}  // namespace opgate::simulator
