// The operators that an operator calls through the dispatcher.
#pragma once

#include <ATen/record_function.h>

#include <set>
#include <string>

namespace opgate {

/// While it lives, keeps the operators that this thread calls through the dispatcher. PyTorch's own are left
/// out.
class CalledOperators {
 public:
  CalledOperators();
  ~CalledOperators();
  CalledOperators(const CalledOperators&) = delete;
  CalledOperators& operator=(const CalledOperators&) = delete;

  /// Names with namespaces and overloads, as a schema begins: "mine::scale", "mine::add.out".
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
  std::set<std::string>* outer_;  // of the one that lives longer, on the same thread
  at::CallbackHandle callback_;
};

}  // namespace opgate
