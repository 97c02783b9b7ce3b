// Kernels of torch's own operators that the project replaces: when the project's run, and when torch's.
#pragma once

#include <map>
#include <string>

namespace opgate {

/// Keeps torch's kernels of these operators ("aten::add.Tensor"), each at one dispatch key ("CUDA"). To be
/// called before the project is loaded. Operators that torch does not have are passed by.
void keep_kernels_of_torch(const std::map<std::string, std::string>& key_of_operator);

/// From now on a KernelScope decides which of the two kernels runs. To be called after the project is loaded.
void choose_kernels_by_scope();

/// Why operators are called. Where scopes are nested, the call of torch's kernel precedes the call under
/// test, and that precedes OpGate's own computing. Outside of all scopes the project's kernels run.
enum class Purpose {
  own_computing,  ///< torch's kernels run: OpGate lays out arguments and compares results
  under_test,     ///< the project's kernels run
  call_of_torch,  ///< torch's kernels run: their results are what others are compared with
};

/// Holds for all threads of the process, because backward passes have threads of their own.
class KernelScope {
 public:
  explicit KernelScope(Purpose purpose);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const Purpose purpose_;
};

}  // namespace opgate
