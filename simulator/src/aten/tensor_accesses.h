// What an operator of ATen, which runs as an operation of a stream, reads and writes, for the tool `stream`.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <vector>

#include <opgate_sim.h>

namespace opgate::simulator::aten {

class TensorAccesses {
 public:
  /// Operators that choose elements by other tensors or by a mask are known to read those, and to write new
  /// results, but not which elements they access.
  explicit TensorAccesses(const c10::FunctionSchema& schema);

  /// All that the operator does not only write.
  void reads_arguments(const c10::IValue* arguments);
  void writes_new(const at::Tensor& result);
  void writes_argument(const at::Tensor& argument);

  const std::vector<OpgateSimAccess>& all() const { return all_; }

 private:
  void add(const at::Tensor& tensor, bool writes);

  void reads(const c10::IValue& argument);

  const c10::FunctionSchema& schema_;
  bool chooses_elements_;
  std::vector<OpgateSimAccess> all_;
};

}  // namespace opgate::simulator::aten
