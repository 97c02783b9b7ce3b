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

#include <ATen/core/dispatch/Dispatcher.h>
#include <opgate/accuracy.h>
#include <opgate/bench.h>
#include <opgate/dtypes.h>
#include <opgate/error.h>
#include <opgate/promises.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace opgate {

/// A call that must raise, and a part of what it must say.
struct Rejection {
  Sample sample;
  std::string because;
};

/// A subject that is wrong on purpose: which check must convict it, and the correct operator beside it.
struct Planted {
  std::string check;
  std::string twin;  ///< "namespace::op"
};

struct ClassPromises;  // class_spec.h

/// What is promised of one subject: an operator overload, a model (a Python module exported as a whole), or a
/// TorchBind class.
struct Spec {
  enum class Kind { op, model, torch_class };

  std::string name;  ///< "namespace::op" or "namespace::op.overload"; a model's own name
  std::string id;    ///< as in case ids: the name without its namespace, where that leaves no doubt
  Kind kind = Kind::op;
  std::optional<c10::OperatorHandle> op;  ///< the overload, once its library is loaded; none for a model
  std::map<c10::DeviceType, Dtypes> dtypes;
  std::vector<Sample> samples;
  Reference reference;       ///< gets contiguous arguments, floating ones widened to Double
  std::string reference_op;  ///< its name, where the reference is an operator
  std::optional<Accuracy> accuracy;
  Reference scale;  ///< gives, like the reference, the magnitudes that accuracy is measured at
  std::optional<Accuracy> gradient_accuracy;
  Promises promises;
  std::vector<Rejection> rejections;
  std::set<std::string> trusted;           ///< arguments whose values the caller answers for
  std::set<std::string> wants_contiguous;  ///< arguments that are refused, clearly, where they are not
  std::set<size_t> unspecified;            ///< results whose values are not promised
  std::deque<Bench> benches;               ///< what `opgate bench` measures; a BenchWriter keeps its element
  std::optional<Planted> planted;
  std::string schema;                          ///< of the operator, as it was when the spec was read
  const void* schema_seen = nullptr;           ///< its arguments then, in the dispatcher
  std::shared_ptr<ClassPromises> torch_class;  ///< of a TorchBind class
  std::string where;                           ///< file:line
  bool draft = false;                          ///< what it does not say is not asked
  bool in_python = false;                      ///< written in Python: its calls are made in the Python worker
  bool kernels_in_python = false;              ///< the operator is, too: no C++ program can call it

  bool promised(Promise promise) const { return promises.contains(promise); }
  /// Bits do not depend on the layout of the arguments.
  bool same_bits_in_any_layout() const { return accuracy->exact || promised(Promise::layout_invariant); }
  /// Among the samples, and those that must be rejected.
  const Sample* find_sample(std::string_view sample_name) const;
  /// Where the sample is one that must be rejected.
  const Rejection* find_rejection(const Sample& sample) const;
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
  template <ReferenceFunction Function>
  SpecWriter& reference(Function function) {
    spec_.reference = reference_from(std::move(function));
    spec_.reference_op.clear();
    return *this;
  }

  /// How near to the reference; there is no default.
  SpecWriter& accuracy(Accuracy promised);

  /// The same at the scale of other magnitudes: `scale` takes what the reference does, and gives for each
  /// result the size of the terms that it is the sum of. Errors are in ulps of that, where it is larger than
  /// the result.
  template <ReferenceFunction Function>
  SpecWriter& accuracy(Accuracy promised, Function scale) {
    spec_.scale = reference_from(std::move(scale));
    return accuracy(promised.scaled_by_inputs());
  }

  /// How near gradients are to the reference's: within so many ulps of the largest element of each; 64 where
  /// nothing is said.
  SpecWriter& gradient_accuracy(Accuracy promised);

  /// One set of arguments in schema order; trailing ones with a default may be left out.
  SpecWriter& sample(std::vector<Argument> arguments,
                     std::source_location here = std::source_location::current());

  /// Names the sample just written, where its shapes alone would not tell it from another.
  SpecWriter& named(std::string name);

  /// Promises by name: spec.promises({deterministic, batch_invariant}).
  SpecWriter& promises(std::initializer_list<Promise> words);

  /// Arguments that must raise an exception. The name is that of the sample; .because() says a part of the
  /// message.
  SpecWriter& rejects(std::string name, std::vector<Argument> arguments,
                      std::source_location here = std::source_location::current());

  /// A part of the message that the rejection just written must have.
  SpecWriter& because(std::string part);

  /// The values of this argument are the caller's business (offsets, lengths, indices): no bad ones are
  /// tried. Its shape, dtype and device are never trusted.
  SpecWriter& trusts(std::string argument);

  /// This argument is refused where it is not contiguous, with a message that names it.
  SpecWriter& wants_contiguous(std::string argument);

  /// Result `index` has values that are not promised: the order of ties, a workspace.
  SpecWriter& unspecified(size_t index);

  /// One set of arguments on which `opgate bench` times the operator; what follows says how fast it must be.
  BenchWriter bench(std::vector<Argument> arguments,
                    std::source_location here = std::source_location::current());

  /// A beginning: what this spec does not say is not asked. It needs no reference; without one, checks that
  /// compare with it are not planned, and calls that must agree are compared with each other, within
  /// `accuracy` (or 64 ulps) of the largest element. Other dtypes than the declared ones are not tried, and
  /// what the engine damages by itself must neither crash nor be read out of bounds, but may be accepted.
  SpecWriter& draft();

  /// This operator is wrong on purpose: `opgate selftest` demands that `check` convicts it, and that no check
  /// convicts `twin`, the correct operator beside it, whose spec must be there too.
  SpecWriter& planted_for(std::string check, std::string twin);

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
