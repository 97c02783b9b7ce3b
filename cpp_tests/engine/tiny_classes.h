// A small TorchBind class, correct or with one mistake (tiny_classes.cpp): a store that holds a tensor, and
// counts what was put into it, up to a limit.
#pragma once

#include <opgate/class_spec.h>

#include <functional>
#include <string>
#include <vector>

namespace opgate::testing {

/// The model of a store, which says what a store must do.
struct StoreModel {
  StoreModel(const at::Tensor& first, int64_t limit) : value(first), limit(limit) {}
  int64_t put(const at::Tensor& x) {
    TORCH_CHECK(count < limit, "full");
    value = x;
    return ++count;
  }
  at::Tensor get() { return value; }
  void clear() { count = 0; }

  at::Tensor value;
  int64_t limit;
  int64_t count = 0;
};

/// The spec of torch.classes.opgate_test.`name`, a store on the CPU, with one sample for each of the
/// limits.
Spec store_spec(
    const std::string& name, const std::vector<int64_t>& limits = {100},
    const std::function<void(ClassSpecWriter&)>& more = [](ClassSpecWriter&) {});

}  // namespace opgate::testing
