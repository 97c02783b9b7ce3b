// What the engine's tests share: messages of errors, tensors written out, folders that go away.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/spec.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace opgate::testing {

/// The message of the Error that `action` throws; "nothing was thrown" otherwise. Another exception goes on
/// and fails the test by its own words.
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

/// 0, 1, 2 ... : every element tells its own position.
at::Tensor counted(at::IntArrayRef sizes, c10::ScalarType dtype = c10::kFloat);

/// The same bits in the same shape and dtype, whatever the strides; not by the engine's own comparison, which
/// is tested too.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

/// A spec of an operator on the CPU, exact, its id the name without its namespace.
Spec spec_of(std::string op, std::vector<std::vector<Argument>> samples, Dtypes dtypes = floating());

/// A new empty folder, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// A file of this text in the folder.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// The whole text of a file; empty where there is none.
std::string text_of(const std::filesystem::path& file);

}  // namespace opgate::testing
