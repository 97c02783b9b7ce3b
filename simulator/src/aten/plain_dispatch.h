// Operators that are called for a program below everything that watches its own calls.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace opgate::simulator::aten {

/// While it lives, this thread calls the kernels of devices themselves: neither autograd nor a mode of
/// Python, such as one that records calls, sees the operators.
class PlainDispatch {
 public:
  PlainDispatch()
      : guard_(c10::default_included_set - c10::autograd_dispatch_keyset_with_ADInplaceOrView,
               c10::default_excluded_set | c10::autograd_dispatch_keyset_with_ADInplaceOrView) {}

 private:
  c10::impl::ForceDispatchKeyGuard guard_;
};

}  // namespace opgate::simulator::aten
