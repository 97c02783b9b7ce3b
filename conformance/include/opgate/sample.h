// A sample: one named set of argument values, independent of dtype, layout and device.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <opgate/domains.h>
#include <opgate/values.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace opgate {

/// A tensor of one shape with values from one domain. Its dtype is that of the case, unless `of` fixes it.
struct TensorArgument {
  Shape shape = {};
  Domain domain = {};
  std::optional<c10::ScalarType> dtype = {};
  bool is_none = false;  ///< an entry None in the list of an argument Tensor?[]

  /// The same tensor with a fixed dtype: an index argument stays Int in the cases of every dtype.
  TensorArgument of(c10::ScalarType fixed) const;
};

/// A random generator for an operator's `Generator?` argument, on the device of the case. It is seeded anew
/// for each call.
struct GeneratorArgument {
  uint64_t seed = 0;
};

/// A generator with this seed.
inline GeneratorArgument generator(uint64_t seed) { return {seed}; }

/// The device of the case, for an operator's `Device?` argument.
struct DeviceOfCase {};
inline constexpr DeviceOfCase device_of_case;

/// None, for an optional argument.
inline constexpr std::nullopt_t none = std::nullopt;

/// One argument in schema order: a tensor or a list of tensors to generate, a generator, the device of the
/// case, or any other value (number, bool, string, list of these, None).
class Argument {
 public:
  Argument(TensorArgument tensor) : value_(std::move(tensor)) {}
  Argument(std::vector<TensorArgument> list) : value_(std::move(list)) {}
  /// For an argument Tensor?[], in which `none` stands for no tensor.
  Argument(const std::vector<std::optional<TensorArgument>>& list);
  Argument(GeneratorArgument generator) : value_(generator) {}
  Argument(DeviceOfCase device) : value_(device) {}
  Argument(c10::IValue other) : value_(std::move(other)) {}
  Argument(std::nullopt_t) : Argument(c10::IValue()) {}
  Argument(double number) : Argument(c10::IValue(number)) {}
  Argument(int64_t number) : Argument(c10::IValue(number)) {}
  Argument(int number) : Argument(c10::IValue(static_cast<int64_t>(number))) {}
  Argument(c10::complex<double> number) : Argument(c10::IValue(number)) {}
  Argument(bool flag) : Argument(c10::IValue(flag)) {}
  Argument(const char* text) : Argument(c10::IValue(std::string(text))) {}
  Argument(std::vector<int64_t> list) : Argument(c10::IValue(std::move(list))) {}
  Argument(std::vector<double> list) : Argument(c10::IValue(std::move(list))) {}
  Argument(std::vector<std::string> list) : Argument(c10::IValue(std::move(list))) {}
  /// A dtype is passed as the integer that the schema's ScalarType stands for; a memory format or another
  /// enumeration is given as its integer, too.
  Argument(c10::ScalarType dtype) : Argument(static_cast<int64_t>(dtype)) {}

  const TensorArgument* tensor() const { return std::get_if<TensorArgument>(&value_); }
  const std::vector<TensorArgument>* tensors() const {
    return std::get_if<std::vector<TensorArgument>>(&value_);
  }
  const GeneratorArgument* generator() const { return std::get_if<GeneratorArgument>(&value_); }
  bool is_device() const { return std::holds_alternative<DeviceOfCase>(value_); }
  /// The value as it is; null for the device of the case, and for tensors, lists of tensors and generators,
  /// which are made for each call.
  const c10::IValue* other() const { return std::get_if<c10::IValue>(&value_); }

 private:
  std::variant<TensorArgument, std::vector<TensorArgument>, GeneratorArgument, DeviceOfCase, c10::IValue>
      value_;
};

/// One set of argument values, with a name.
struct Sample {
  std::string name;  ///< unique in its spec and part of the case id; by default the shapes: "2x3x257,257"
  std::vector<Argument> arguments;
  std::string where;  ///< file:line of the spec that wrote it, for messages
  /// How many of the arguments are the schema's defaults, which the spec left out; the engine sets it.
  size_t defaults = 0;

  /// The number of tensors to generate; each tensor in a list counts, and None does not.
  int64_t tensor_count() const;
};

/// The name of a sample that is given none: "2x3x257" for a tensor, "0d" for a 0-dim one, and other
/// arguments as they print: "2x8,1e-05,[3, 3]".
std::string default_name(const std::vector<Argument>& arguments);

/// What the values of a sample are generated from. It is the name, but for numbers in default names: these
/// are written with 17 digits here, as they once were in names, so that samples keep their values.
std::string value_name(const Sample& sample);

}  // namespace opgate
