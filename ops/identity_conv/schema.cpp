// The schema of identity_conv. The other files of this folder implement it.
//
// pt2_compliant_tag says that the operator has a meta kernel and passes torch.library.opcheck, so that the
// compiler may keep it in a graph as one node.
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("identity_conv(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
}
