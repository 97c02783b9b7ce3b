// What the engine's tests share: messages of errors, small tensors, and temporary folders.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/spec.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace opgate::testing {

/// The message of the Error that `action` throws, or "nothing was thrown". Any other exception goes on and
/// fails the test with its own message.
template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// A contiguous CPU tensor of these values; T is the C++ type of the dtype.
template <class T>
at::Tensor tensor_of(at::IntArrayRef sizes, const std::vector<T>& values) {
  at::Tensor tensor = at::empty(sizes, c10::CppTypeToScalarType<T>::value);
  EXPECT_EQ(static_cast<size_t>(tensor.numel()), values.size());
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.mutable_data_ptr()));
  return tensor;
}

/// A contiguous tensor with the elements 0, 1, 2 ..., so that every element is its own position.
at::Tensor counted(at::IntArrayRef sizes, c10::ScalarType dtype = c10::kFloat);

/// Whether shape, dtype and bits are equal, whatever the strides. It does not use the engine's comparison,
/// because that is tested with it.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

/// A spec of an operator on the CPU with exact accuracy; its id is the name without the namespace.
Spec spec_of(std::string op, std::vector<std::vector<Argument>> samples, Dtypes dtypes = floating());

// As in the supervisor: what is sent to a worker that died is an error, and not a signal that ends this
// process.
class SigpipeIgnored {
 public:
  SigpipeIgnored() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~SigpipeIgnored() { std::signal(SIGPIPE, before_); }
  SigpipeIgnored(const SigpipeIgnored&) = delete;

 private:
  void (*before_)(int);
};

/// A new empty folder; the destructor removes it with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Writes a file with this text to the folder and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// The whole text of a file; empty if it does not exist.
std::string text_of(const std::filesystem::path& file);

}  // namespace opgate::testing
