// The checks of IdentityConv, and its registration as torch.classes.opgate_ops.IdentityConv.
#include "class.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/library.h>

namespace opgate_ops {

IdentityConv::IdentityConv(int64_t channels) : channels_(channels) {
  TORCH_CHECK(channels >= 1, "IdentityConv: channels must be at least 1, got ", channels);
}

at::Tensor IdentityConv::forward(const at::Tensor& x) const {
  TORCH_CHECK(x.dim() == 3 || x.dim() == 4, "IdentityConv.forward: x must be [C, H, W] or [N, C, H, W], got ",
              x.dim(), " dimensions");
  TORCH_CHECK(x.size(-3) == channels_, "IdentityConv.forward: x must have ", channels_,
              " channels in dimension ", x.dim() - 3, ", got ", x.size(-3));
  // The call goes through the dispatcher, which picks the kernel for x's device.
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("opgate_ops::identity_conv", "")
                             .typed<at::Tensor(const at::Tensor&)>();
  return op.call(x);
}

}  // namespace opgate_ops

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  using opgate_ops::IdentityConv;
  m.class_<IdentityConv>("IdentityConv")
      .def(torch::init<int64_t>(), "", {torch::arg("channels")})
      .def("forward",
           [](const c10::intrusive_ptr<IdentityConv>& self, const at::Tensor& x) { return self->forward(x); },
           "", {torch::arg("x")})
      .def("get_channels", [](const c10::intrusive_ptr<IdentityConv>& self) { return self->channels(); })
      .def("__obj_flatten__", [](const c10::intrusive_ptr<IdentityConv>& self) { return self->flatten(); })
      .def_pickle([](const c10::intrusive_ptr<IdentityConv>& self) { return self->channels(); },
                  [](int64_t channels) { return c10::make_intrusive<IdentityConv>(channels); });
}
