// Calls an operator boxed through the dispatcher and catches whatever it throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceType.h>

#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace c10 {
class OperatorHandle;
}

namespace opgate {

/// An exception that the operator raised: its message without the backtrace.
struct Raised {
  std::string message;
  bool has_text = true;  ///< false: the message is empty, or but the name of the exception's type in Python
  /// What the exception is for a caller in Python: its type, and those that this one derives from.
  std::vector<std::string> types = {};
};

struct Outcome {
  torch::jit::Stack results;  ///< empty if it raised
  std::optional<Raised> raised;
  std::vector<at::Tensor> written;  ///< arguments that the schema declares mutable, after the call
  std::string left_error = {};      ///< a CUDA error that the call got and did not raise: CUDA's words for it

  bool ok() const { return !raised.has_value(); }
  /// The tensors among the results, including those inside lists, in order.
  std::vector<at::Tensor> returned() const;
  /// All tensors whose values can be wrong: the returned ones, then the written ones.
  std::vector<at::Tensor> values() const;
  /// The positions in values() of the tensors that belong to these results of the schema: all elements of a
  /// list, and written arguments that are returned as one of them.
  std::set<size_t> tensors_of(const std::set<size_t>& schema_results) const;
};

/// The values that `call` should have, in the order of Outcome::values(). A reference may return tensors
/// for the arguments that the operator writes; otherwise its own written arguments count.
std::vector<at::Tensor> expected_values(const Outcome& reference, const Outcome& call);

struct SimulatedFailure;

/// A call on the simulated device did what ends a process on a real one, such as an access past the end of an
/// allocation.
class DeviceFailed : public std::exception {
 public:
  explicit DeviceFailed(const SimulatedFailure& failure);
  const char* what() const noexcept override { return what_.c_str(); }
  /// The words that all failures with this error of CUDA share.
  const std::string& ended() const { return ended_; }
  /// What this one was: "ld.global.f32 of 4 bytes at 0x...: past the end of ..."; may be empty.
  const std::string& detail() const { return detail_; }
  /// The kernel and its place, as in a stack; may be empty.
  const std::string& frame() const { return frame_; }

 private:
  std::string ended_;
  std::string detail_;
  std::string what_;
  std::string frame_;
};

/// A call on the simulated device needs what is not simulated, so that nothing is known about it.
class NotSimulated : public std::exception {
 public:
  explicit NotSimulated(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// What a process with Python, which sets it once, does with the exceptions of calls.
struct PythonExceptions {
  /// Fills in `types` of an exception that was raised in Python; and for one without a text, whose message is
  /// the name of its type, the rest.
  void (*describe)(const std::exception& error, Raised& raised) = nullptr;
  /// Called after each exception: Python keeps a record of its own of one that passes through C++, which must
  /// not become the next call's.
  void (*forget)() = nullptr;
};

void set_python_exceptions(PythonExceptions functions);

using BoxedCall = std::function<void(torch::jit::Stack&)>;

/// The operator returned a tensor that OpGate cannot look into: a quantized one, or one without strides, such
/// as a sparse one.
class UnreadableResult : public std::exception {
 public:
  explicit UnreadableResult(const std::string& result);  ///< "a quantized tensor"
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// The operator returned a tensor on meta for arguments that are not.
class ResultWithoutValues : public std::exception {
 public:
  const char* what() const noexcept override {
    return "the kernel returned a tensor on meta, which has no values";
  }
};

/// Runs `call` on `stack`, which holds the arguments of `op` and afterwards the results, and waits for the
/// device. An exception becomes Outcome::raised, except that a SetupError (a missing reference) goes on to
/// the caller. Throws UnreadableResult, ResultWithoutValues, DeviceFailed and NotSimulated.
Outcome invoke(const c10::OperatorHandle& op, const BoxedCall& call, torch::jit::Stack stack,
               c10::DeviceType device);

/// Calls the operator itself.
Outcome invoke(const c10::OperatorHandle& op, torch::jit::Stack stack, c10::DeviceType device);

}  // namespace opgate
