// What a spec author includes: what one operator promises, in about ten lines.
//
//   OPGATE_SPEC("my_ops::relu", spec) {
//     spec.dtypes(floating());
//     spec.reference([](const at::Tensor& x) { return x.clamp_min(0); });
//     spec.accuracy(exact());
//     for (const Shape& shape : {Shape{4, 8}, {2, 3, 257}}) spec.sample({uniform(shape)});
//   }
//
// From this, OpGate derives cases for every layout, empty and 0-dim inputs, mutation, aliasing, fake
// kernels and packages.
#pragma once

#include <opgate/accuracy.h>
#include <opgate/bench.h>
#include <opgate/dtypes.h>
#include <opgate/error.h>
#include <opgate/promises.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <functional>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opgate {

struct Spec;

/// The words of a spec. A contradiction, in these words or with the operator's schema, is a SpecError that
/// names file and line; it is thrown here or when the spec is read.
class SpecWriter {
 public:
  SpecWriter(Spec& spec) : spec_(spec) {}

  /// The dtypes accepted on the CPU and on accelerators (CUDA). A call in any other dtype must raise an error
  /// that names the dtype, unless the spec is a draft. On a machine without a GPU the CUDA cases run on the
  /// simulated device, or are owed: not run here, because this machine lacks what they need.
  SpecWriter& dtypes(Dtypes accepted);

  /// The dtypes accepted on one device, where devices differ. Replaces what was said of this device before.
  /// An empty list says that the operator is not promised on this device.
  SpecWriter& dtypes(c10::DeviceType device, Dtypes accepted);

  /// The reference: another operator that takes the same arguments, such as "aten::clone". It runs on the
  /// CPU, whatever the case's device, on contiguous copies of the same values: floating tensors are widened
  /// to Double and complex ones to ComplexDouble, and all other arguments stay as they are. Further arguments
  /// of that operator have their defaults. The cases are invalid where no loaded library defines the
  /// operator.
  SpecWriter& reference(std::string op_name);

  /// The reference as a callable over the operator's C++ argument types. It gets the same arguments.
  template <ReferenceFunction Function>
  SpecWriter& reference(Function function) {
    return reference_function(reference_from(std::move(function)));
  }

  /// How near results are to the reference's. There is no default, except for a draft without a reference.
  SpecWriter& accuracy(Accuracy promised);

  /// The same, but errors are in ulps at another scale, where that is larger than the result. `scale` takes
  /// the reference's arguments, and returns for each result a tensor of the result's shape with the
  /// magnitude of the terms that each element is the sum of.
  template <ReferenceFunction Function>
  SpecWriter& accuracy(Accuracy promised, Function scale) {
    return accuracy_at_scale(promised, reference_from(std::move(scale)));
  }

  /// How near gradients are to the reference's: within so many ulps of the largest element of each
  /// gradient. Without this word, 64 ulps. The spec must promise `differentiable`.
  SpecWriter& gradient_accuracy(Accuracy promised);

  /// One set of arguments in schema order; trailing ones with a default may be left out. Undeclared dtypes
  /// are tried on the first sample only.
  SpecWriter& sample(std::vector<Argument> arguments,
                     std::source_location here = std::source_location::current());

  /// Names the sample just written, where its shapes alone would not tell it from another. The name must
  /// not contain '/', which separates the parts of a case id.
  SpecWriter& named(std::string name);

  /// Adds promises by name: spec.promises({deterministic, batch_invariant}). See <opgate/promises.h>.
  SpecWriter& promises(std::initializer_list<Promise> words);

  /// Arguments with which a call must raise an exception, on each device and there in the first dtype that
  /// the spec declares; other dtypes are not tried. `name` is the name of the sample. The inputs must stay
  /// unchanged, and the next call on the spec's first sample must work. .because() names a part of the
  /// message, and .raises() the type of the exception.
  SpecWriter& rejects(std::string name, std::vector<Argument> arguments,
                      std::source_location here = std::source_location::current());

  /// A part of the message that the rejection just written must have. Case does not count.
  SpecWriter& because(std::string part);

  /// The type that the exception of the rejection just written has for a caller in Python, or one that its
  /// type derives from: "ValueError" for TORCH_CHECK_VALUE, "IndexError" for TORCH_CHECK_INDEX,
  /// "RuntimeError" for TORCH_CHECK. Without this word, any type will do.
  SpecWriter& raises(std::string type);

  /// The caller is responsible for the values of this argument (offsets, lengths, indices): bad values are
  /// not tried. Bad shapes, dtypes and devices are tried all the same.
  SpecWriter& trusts(std::string argument) { return names("trusts", std::move(argument)); }

  /// If this argument is not contiguous, the operator may raise an exception whose message names the
  /// argument.
  SpecWriter& wants_contiguous(std::string argument) {
    return names("wants_contiguous", std::move(argument));
  }

  /// The values of this result are not promised (the order of ties, a workspace); its shape and dtype are.
  /// `index`, from 0, is that of the result in the schema; for a list it stands for all of its tensors, and
  /// for a written argument that the call returns, for that argument.
  SpecWriter& unspecified(size_t index) { return names("unspecified", index); }

  /// This result lies on the CPU wherever the arguments are, such as lengths that a launch needs. All others
  /// lie on the device of the arguments. `index`, from 0, is that of the result in the schema; for a list it
  /// stands for all of its tensors.
  SpecWriter& on_cpu(size_t index) { return names("on_cpu", index); }

  /// Results are not promised under this condition, and the cases that bring it about are not planned.
  /// "overlap": an argument that is written shares memory with another one. "nan": an element of an argument
  /// is NaN or infinite.
  SpecWriter& unspecified_for(std::string condition) {
    return names("unspecified_for", std::move(condition));
  }

  /// One set of arguments on which `opgate bench` times the operator. The words of the BenchWriter say how
  /// fast it must be.
  BenchWriter bench(std::vector<Argument> arguments,
                    std::source_location here = std::source_location::current());

  /// The spec is not finished: what it does not say is not checked. It needs no reference. Without one,
  /// checks that compare with a reference are not planned, and two calls that must agree are compared with
  /// each other, within `accuracy` (by default `ulps(64).of_input_dtype()`) at the largest element.
  /// Undeclared dtypes are not tried. An input that the engine damages must not make the operator crash or
  /// access memory outside its arguments, but the operator may accept it, and messages are not judged.
  SpecWriter& draft();

  /// This operator is wrong on purpose: `opgate selftest` demands that `check` fails for it, and that no
  /// check fails for `twin`, the correct operator beside it, which must have a spec too.
  SpecWriter& planted_for(std::string check, std::string twin);

 private:
  SpecWriter& reference_function(Reference function);
  SpecWriter& accuracy_at_scale(Accuracy promised, Reference scale);
  // Words that name an argument, a condition or a result: `word` is one of conformance/spec/naming_words.h.
  SpecWriter& names(std::string_view word, std::string named);
  SpecWriter& names(std::string_view word, size_t result);

  Spec& spec_;
};

using SpecFunction = std::function<void(SpecWriter&)>;

/// Adds a spec to the process-wide list. OPGATE_SPEC calls this when the spec library is loaded.
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
