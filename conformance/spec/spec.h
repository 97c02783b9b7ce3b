// What the engine knows about one subject: what its author promised, and what was found when its library
// was loaded.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <opgate/accuracy.h>
#include <opgate/dtypes.h>
#include <opgate/promises.h>
#include <opgate/reference.h>
#include <opgate/sample.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/bench.h"
#include "spec/naming_words.h"

namespace opgate {

/// A call that must raise, a part of the message that it must raise with, and the exception's type in Python.
struct Rejection {
  Sample sample;
  std::string because;
  std::string type = {};  ///< "ValueError", or what it derives from; empty: any type
};

/// A subject that is wrong on purpose: the id of the check that must fail it, and the correct operator
/// beside it.
struct Planted {
  std::string check;
  std::string twin;  ///< "namespace::op"
};

struct ClassPromises;  // spec/class_promises.h

/// Conditions under which a spec may leave results unspecified; see SpecWriter::unspecified_for.
inline constexpr std::string_view kOverlap = "overlap";
inline constexpr std::string_view kNan = "nan";

/// The promises of one subject: an operator overload, a model (a Python module that is exported), or a
/// TorchBind class.
struct Spec : SpecNames {
  enum class Kind { op, model, torch_class };

  std::string name;  ///< "namespace::op" or "namespace::op.overload"; a model's own name
  std::string id;    ///< as in case ids: the name without its namespace, unless that is ambiguous
  Kind kind = Kind::op;
  std::optional<c10::OperatorHandle> op;  ///< the overload, once its library is loaded; none for a model
  std::map<c10::DeviceType, Dtypes> dtypes;
  std::vector<Sample> samples;
  Reference reference;       ///< is called with contiguous arguments, floating ones widened to Double
  std::string reference_op;  ///< the reference's name if it is an operator, otherwise empty
  std::optional<Accuracy> accuracy;
  Reference scale;  ///< computes the magnitudes at which errors are measured, in the reference's shapes
  std::optional<Accuracy> gradient_accuracy;
  Promises promises;
  Promises guessed;  ///< promises that a recording suggests, and that no author has written
  bool never_differentiated =
      false;  ///< only an autograd kernel suggests a derivative, which no recorded call had
  std::vector<Rejection> rejections;
  std::set<std::string>
      assumed_trusted;        ///< those of `trusted` that a recording suggests, and nobody has written
  std::deque<Bench> benches;  ///< a deque, because BenchWriters keep references to elements
  std::optional<Planted> planted;
  std::string schema;                          ///< of the operator when the spec was read
  const void* schema_seen = nullptr;           ///< address of the schema's arguments in the dispatcher then
  std::shared_ptr<ClassPromises> torch_class;  ///< null unless the subject is a TorchBind class
  std::string where;                           ///< file:line
  std::string replaced_at = {};                ///< of torch's own operator: the dispatch key at which the
                                               ///< project replaces its kernel, "CUDA"
  bool draft = false;                          ///< not finished: what it does not say is not checked
  bool in_python = false;                      ///< written in Python: the Python worker makes its calls
  bool kernels_in_python = false;              ///< the kernels are, too: no C++ program can call them
  bool fake_in_python = false;                 ///< only a process with Python has a kernel for Meta
  bool lacks_fake = false;                     ///< no process has one, and none can be derived

  bool promised(Promise promise) const { return promises.contains(promise); }
  /// Whether the bits of the results must not depend on the layout of the arguments.
  bool same_bits_in_any_layout() const { return accuracy->exact || promised(Promise::layout_invariant); }
  /// The accuracy that is promised where the spec's samples have this dtype.
  Accuracy accuracy_for(c10::ScalarType sample_dtype) const;
  /// The sample of that name, among `samples` and those of `rejections`; null if there is none. Numbers in it
  /// may have more digits than they need.
  const Sample* find_sample(std::string_view sample_name) const;
  /// The rejection that `sample` belongs to; null if the sample is not one that must be rejected.
  const Rejection* find_rejection(const Sample& sample) const;
  /// Whether the subject is torch's own operator, with a kernel of the project in place of torch's.
  bool replaces_kernel() const { return !replaced_at.empty(); }

 private:
  const Sample* sample_of_name(std::string_view sample_name) const;
};

}  // namespace opgate
