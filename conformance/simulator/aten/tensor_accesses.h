// What an operator of ATen, which runs as an operation of a stream, reads and writes, for the tool `stream`.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <string>
#include <vector>

#include "simulator/runtime/simulated_work.h"

namespace opgate::simulator::aten {

class TensorAccesses {
 public:
  /// `op`: such as "aten::add". Operators that choose elements by other tensors or by a mask are known to
  /// read those, and to write new results, but not which elements they access.
  explicit TensorAccesses(const std::string& op);

  void reads(const c10::IValue& argument);
  void writes_new(const at::Tensor& result);
  void writes_argument(const at::Tensor& argument);

  const std::vector<OpgateSimAccess>& all() const { return all_; }

 private:
  void add(const at::Tensor& tensor, bool writes);

  bool chooses_elements_;
  std::vector<OpgateSimAccess> all_;
};

}  // namespace opgate::simulator::aten
