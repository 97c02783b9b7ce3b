// What a spec author includes: what one operator promises, in about ten lines.
//
//   OPGATE_SPEC("my_ops::relu", spec) {
//     spec.dtypes(floating());
//     spec.reference([](const at::Tensor& x) { return x.clamp_min(0); });
//     spec.accuracy(exact());
//     for (const Shape& shape : {Shape{4, 8}, {2, 3, 257}}) spec.sample({uniform(shape)});
//   }
//
// Every layout, the empty and 0-dim cases, mutation, aliasing, fakes and packages follow from it.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <opgate/accuracy.h>
#include <opgate/dtypes.h>
#include <opgate/error.h>
#include <opgate/sample.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace opgate {

/// A trusted computation of the same thing. It gets the operator's own arguments, contiguous, floating ones
/// widened to Double, and leaves its results on the stack.
using Reference = std::function<void(const c10::OperatorHandle&, torch::jit::Stack&)>;

/// What is promised of one subject: an operator overload, or a model (a Python module exported as a whole).
struct Spec {
  enum class Kind { op, model };

  std::string name;  ///< "namespace::op" or "namespace::op.overload"; a model's own name
  std::string id;    ///< as in case ids: the name without its namespace, where that leaves no doubt
  Kind kind = Kind::op;
  std::optional<c10::OperatorHandle> op;  ///< the overload, once its library is loaded; none for a model
  std::map<c10::DeviceType, Dtypes> dtypes;
  std::vector<Sample> samples;
  Reference reference;
  std::optional<Accuracy> accuracy;
  std::string where;  ///< file:line

  const Sample* find_sample(std::string_view sample_name) const;
};

/// The words of a spec. Each throws SpecError, naming file and line, for what contradicts itself.
class SpecWriter {
 public:
  SpecWriter(Spec& spec) : spec_(spec) {}

  /// The dtypes accepted on every device; all others must raise an error that names the dtype.
  SpecWriter& dtypes(Dtypes accepted);

  /// The dtypes accepted on one device, where devices differ. None: the operator is not promised there.
  SpecWriter& dtypes(c10::DeviceType device, Dtypes accepted);

  /// Another operator that takes the same arguments, such as "aten::clone".
  SpecWriter& reference(std::string op_name);

  /// A callable over the operator's C++ argument types.
  template <class Function>
  requires(!std::is_convertible_v<Function, std::string>) SpecWriter& reference(Function function) {
    auto kernel = c10::KernelFunction::makeFromUnboxedLambda(std::move(function));
    spec_.reference = [kernel](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
      kernel.callBoxed(op, c10::DispatchKeySet(), &stack);
    };
    return *this;
  }

  /// How near to the reference; there is no default.
  SpecWriter& accuracy(Accuracy promised);

  /// One set of arguments in schema order; trailing ones with a default may be left out.
  SpecWriter& sample(std::vector<Argument> arguments,
                     std::source_location here = std::source_location::current());

  /// Names the sample just written, where its shapes alone would not tell it from another.
  SpecWriter& named(std::string name);

 private:
  Spec& spec_;
};

using SpecFunction = void (*)(SpecWriter&);

/// Adds a spec to the process-wide list; OPGATE_SPEC calls it when the spec library is loaded.
bool register_spec(std::string name, SpecFunction function, const char* file, int line);

}  // namespace opgate

#define OPGATE_SPEC_CONCAT_(a, b) a##b
#define OPGATE_SPEC_CONCAT(a, b) OPGATE_SPEC_CONCAT_(a, b)
#define OPGATE_SPEC_IMPL(op, parameter, id)                                                  \
  static void OPGATE_SPEC_CONCAT(opgate_spec_, id)(::opgate::SpecWriter & parameter);        \
  static const bool OPGATE_SPEC_CONCAT(opgate_spec_registered_, id) =                        \
      ::opgate::register_spec(op, OPGATE_SPEC_CONCAT(opgate_spec_, id), __FILE__, __LINE__); \
  static void OPGATE_SPEC_CONCAT(opgate_spec_, id)([[maybe_unused]] ::opgate::SpecWriter & parameter)

/// OPGATE_SPEC("namespace::op", spec) { spec.dtypes(...); ... }
#define OPGATE_SPEC(op, parameter) OPGATE_SPEC_IMPL(op, parameter, __COUNTER__)
