// Derivatives of bev_pool_v2, to any order. The operator is bilinear in depth and feat, and the backward is
// bilinear in grad and either of them. So the derivatives of both are the same two operators, called
// through the dispatcher with other arguments:
//
//   pool(depth, feat) = out             back(grad, depth, feat) = (grad_depth, grad_feat)
//   d pool  for grad:                   back(grad, depth, feat)
//   d back  for (u, w), d depth, feat:  back(grad, u, w)
//   d back  for (u, w), d grad:         pool(u, feat) + pool(depth, w)
//
// An undefined incoming gradient is zero, so its terms are left out. Ranks and intervals have no gradients.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>
#include <utility>

#include "../common/derivative.h"
#include "../common/dispatched.h"
#include "arguments.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Gradients = std::tuple<at::Tensor, at::Tensor>;

// pool and back call the two operators with `depth` and `feat`, which may differ from those in `indices`.
at::Tensor pool(const at::Tensor& depth, const at::Tensor& feat, const PoolInputs& indices,
                c10::SymIntArrayRef bev_shape) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                            const at::Tensor&, const at::Tensor&, const at::Tensor&, c10::SymIntArrayRef)>(
          "opgate_ops::bev_pool_v2");
  return op.call(depth, feat, indices.ranks_depth, indices.ranks_feat, indices.ranks_bev,
                 indices.interval_starts, indices.interval_lengths, bev_shape);
}

Gradients back(const at::Tensor& grad, const at::Tensor& depth, const at::Tensor& feat,
               const PoolInputs& indices) {
  static const auto op =
      dispatched<Gradients(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                           const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&)>(
          "opgate_ops::bev_pool_v2_backward");
  return op.call(grad, depth, feat, indices.ranks_depth, indices.ranks_feat, indices.ranks_bev,
                 indices.interval_starts, indices.interval_lengths);
}

variable_list saved_list(const PoolInputs& in) {
  return {in.depth,           in.feat, in.ranks_depth, in.ranks_feat, in.ranks_bev, in.interval_starts,
          in.interval_lengths};
}

PoolInputs from_list(const variable_list& saved) {
  return {saved[0], saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]};
}

at::Tensor or_zeros(const at::Tensor& gradient, const at::Tensor& like) {
  return gradient.defined() ? gradient : at::zeros_like(like);
}

struct BevPool : torch::autograd::Function<BevPool> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& depth, const at::Tensor& feat,
                            const at::Tensor& ranks_depth, const at::Tensor& ranks_feat,
                            const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
                            const at::Tensor& interval_lengths, c10::SymIntArrayRef bev_shape) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const PoolInputs in{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
    ctx->set_materialize_grads(false);
    ctx->save_for_backward(saved_list(in));
    return pool(depth, feat, in, bev_shape);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    variable_list result(8);
    const at::Tensor& grad = grads[0];
    if (!grad.defined()) return result;
    const PoolInputs in = from_list(ctx->get_saved_variables());
    std::tie(result[0], result[1]) = back(grad, in.depth, in.feat, in);
    return result;
  }
};

struct BevPoolBackward : torch::autograd::Function<BevPoolBackward> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& grad, const at::Tensor& depth,
                               const at::Tensor& feat, const at::Tensor& ranks_depth,
                               const at::Tensor& ranks_feat, const at::Tensor& ranks_bev,
                               const at::Tensor& interval_starts, const at::Tensor& interval_lengths) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const PoolInputs in{depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths};
    ctx->set_materialize_grads(false);
    variable_list saved = saved_list(in);
    saved.push_back(grad);
    ctx->save_for_backward(std::move(saved));
    auto [grad_depth, grad_feat] = back(grad, depth, feat, in);
    return {std::move(grad_depth), std::move(grad_feat)};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    variable_list result(8);
    const at::Tensor& to_depth = grads[0];
    const at::Tensor& to_feat = grads[1];
    if (!to_depth.defined() && !to_feat.defined()) return result;
    const variable_list saved = ctx->get_saved_variables();
    const PoolInputs in = from_list(saved);
    const at::Tensor& grad = saved[7];
    if (ctx->needs_input_grad(0)) {
      const c10::SymIntArrayRef bev_shape = grad.sym_sizes().slice(0, 4);
      if (to_depth.defined()) result[0] = pool(to_depth, in.feat, in, bev_shape);
      if (to_feat.defined()) {
        const at::Tensor other = pool(in.depth, to_feat, in, bev_shape);
        result[0] = result[0].defined() ? result[0].add(other) : other;
      }
    }
    if (ctx->needs_input_grad(1) || ctx->needs_input_grad(2)) {
      std::tie(result[1], result[2]) =
          back(grad, or_zeros(to_depth, in.depth), or_zeros(to_feat, in.feat), in);
    }
    return result;
  }
};

at::Tensor bev_pool_v2_autograd(const at::Tensor& depth, const at::Tensor& feat,
                                const at::Tensor& ranks_depth, const at::Tensor& ranks_feat,
                                const at::Tensor& ranks_bev, const at::Tensor& interval_starts,
                                const at::Tensor& interval_lengths, c10::SymIntArrayRef bev_shape) {
  if (is_differentiated(depth, feat)) {
    return BevPool::apply(depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths,
                          bev_shape);
  }
  const at::AutoDispatchBelowADInplaceOrView below;
  return pool(depth, feat,
              {depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths},
              bev_shape);
}

Gradients bev_pool_v2_backward_autograd(const at::Tensor& grad, const at::Tensor& depth,
                                        const at::Tensor& feat, const at::Tensor& ranks_depth,
                                        const at::Tensor& ranks_feat, const at::Tensor& ranks_bev,
                                        const at::Tensor& interval_starts,
                                        const at::Tensor& interval_lengths) {
  if (is_differentiated(grad, depth, feat)) {
    variable_list result = BevPoolBackward::apply(grad, depth, feat, ranks_depth, ranks_feat, ranks_bev,
                                                  interval_starts, interval_lengths);
    return {std::move(result[0]), std::move(result[1])};
  }
  const at::AutoDispatchBelowADInplaceOrView below;
  return back(grad, depth, feat,
              {depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths});
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("bev_pool_v2", &opgate_ops::bev_pool_v2_autograd);
  m.impl("bev_pool_v2_backward", &opgate_ops::bev_pool_v2_backward_autograd);
}
