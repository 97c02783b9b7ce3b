// What the author of a TorchBind class writes: a plain C++ model of the class, and how its objects may be
// made and called.
//
//   struct Counter {  // behaves as the class must
//     explicit Counter(int64_t start) : count(start) {}
//     int64_t add(int64_t n) { return count += n; }
//     int64_t count;
//   };
//
//   OPGATE_CLASS_SPEC("my_ops::Counter", spec) {  // torch.classes.my_ops.Counter
//     spec.dtypes(floating());
//     spec.model<Counter(int64_t)>();
//     spec.construct({3});
//     spec.method("add", &Counter::add).with({1}).with({-4});
//     spec.method("get", [](Counter& counter) { return counter.count; });
//   }
//
// From this, OpGate derives random sequences of calls, with several objects at once and with tensors that
// are overwritten after a call, and pickling and flattening at any point of a sequence.
#pragma once

#include <ATen/core/jit_type.h>
#include <opgate/spec.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <typeindex>
#include <vector>

namespace opgate {

/// One method of the model, with its types erased.
struct ModelMethod {
  std::string name;
  /// Calls the method on an object of type `model_type`. The arguments have the types `takes`, without
  /// `this`.
  std::function<c10::IValue(void* model, const torch::jit::Stack& arguments)> call;
  std::type_index model_type;
  std::vector<c10::TypePtr> takes;
  c10::TypePtr gives;
};

/// The model's constructor, with its types erased.
struct ModelConstructor {
  std::function<std::shared_ptr<void>(const torch::jit::Stack& arguments)> make;
  std::type_index model_type = typeid(void);
  std::vector<c10::TypePtr> takes;
};

/// The words of a class's spec. A contradiction, in these words or with the registered class, is a
/// SpecError that names file and line; it is thrown here or when the spec is read.
class ClassSpecWriter {
 public:
  explicit ClassSpecWriter(Spec& spec);

  /// The dtypes that tensor arguments are tried in: on the CPU and on CUDA, or on one device.
  ClassSpecWriter& dtypes(Dtypes accepted);
  ClassSpecWriter& dtypes(c10::DeviceType device, Dtypes accepted);

  /// How near results are to the model's. Without this word they have the same bits.
  ClassSpecWriter& accuracy(Accuracy promised);

  /// The model and what its constructor takes: spec.model<Counter(int64_t)>(). The engine never writes to
  /// arguments and results of the model, which may therefore keep and return any tensor.
  template <class Signature>
  ClassSpecWriter& model() {
    return model_made_by(static_cast<Signature*>(nullptr));
  }

  /// One set of constructor arguments, in schema order; trailing ones with a default may be left out.
  ClassSpecWriter& construct(std::vector<Argument> arguments,
                             std::source_location here = std::source_location::current());

  /// Names the constructor arguments just written. By default their shapes and values name them.
  ClassSpecWriter& named(std::string name);

  /// A method of the class, and the model's function for it: a member function of the model, or a callable
  /// that takes the model by reference as its first argument. Where the model throws, the class must raise
  /// too.
  template <class Result, class Model, class... Arguments>
  ClassSpecWriter& method(std::string name, Result (Model::*function)(Arguments...),
                          std::source_location here = std::source_location::current()) {
    return method_as(std::move(name), std::function<Result(Model&, Arguments...)>(function), here);
  }
  template <class Result, class Model, class... Arguments>
  ClassSpecWriter& method(std::string name, Result (Model::*function)(Arguments...) const,
                          std::source_location here = std::source_location::current()) {
    return method_as(std::move(name), std::function<Result(Model&, Arguments...)>(function), here);
  }
  template <class Function>
  ClassSpecWriter& method(std::string name, Function function,
                          std::source_location here = std::source_location::current()) {
    return method_as(std::move(name), std::function(std::move(function)), here);
  }

  /// One set of arguments with which the method just written may be called at any time. A method without
  /// any set is called without arguments. Tensors have other values in each call.
  ClassSpecWriter& with(std::vector<Argument> arguments,
                        std::source_location here = std::source_location::current());

  /// Allows the result of the method just written to share memory with an argument or with the object, so
  /// that it changes when they do.
  ClassSpecWriter& may_share();

  /// Says that the class is not meant for torch.export: it needs neither def_pickle nor __obj_flatten__.
  /// Where it has one of these, that one is checked.
  ClassSpecWriter& not_exported();

  /// As SpecWriter::planted_for.
  ClassSpecWriter& planted_for(std::string check, std::string twin);

 private:
  template <class Model, class... Arguments>
  ClassSpecWriter& model_made_by(Model (*)(Arguments...)) {
    const auto make = [](const torch::jit::Stack& arguments) -> std::shared_ptr<void> {
      return std::apply([](auto&... values) { return std::make_shared<Model>(values...); },
                        lvalues(unpacked<Arguments...>(arguments)));
    };
    return set_model({make, typeid(Model), {c10::getTypePtrCopy<std::decay_t<Arguments>>()...}});
  }

  template <class Result, class Model, class... Arguments>
  ClassSpecWriter& method_as(std::string name, std::function<Result(Model&, Arguments...)> function,
                             const std::source_location& here) {
    const auto boxed = [function](void* model, const torch::jit::Stack& arguments) -> c10::IValue {
      const auto call = [&](auto&... values) -> decltype(auto) {
        return function(*static_cast<Model*>(model), values...);
      };
      if constexpr (std::is_void_v<Result>) {
        std::apply(call, lvalues(unpacked<Arguments...>(arguments)));
        return {};
      } else {
        return c10::IValue(
            std::decay_t<Result>(std::apply(call, lvalues(unpacked<Arguments...>(arguments)))));
      }
    };
    return add_method({std::move(name),
                       boxed,
                       typeid(Model),
                       {c10::getTypePtrCopy<std::decay_t<Arguments>>()...},
                       c10::getTypePtrCopy<std::decay_t<Result>>()},
                      here);
  }

  template <class... Arguments>
  static std::tuple<std::decay_t<Arguments>...> unpacked(const torch::jit::Stack& stack) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<std::decay_t<Arguments>...>(stack.at(I).to<std::decay_t<Arguments>>()...);
    }
    (std::index_sequence_for<Arguments...>());
  }

  // std::apply hands on the elements of an lvalue as lvalues, which bind to T, T& and const T& alike.
  template <class Tuple>
  static Tuple& lvalues(Tuple&& tuple) {
    return tuple;
  }

  ClassSpecWriter& set_model(ModelConstructor model);
  ClassSpecWriter& add_method(ModelMethod method, const std::source_location& here);

  Spec& spec_;
  SpecWriter writer_;
};

using ClassSpecFunction = void (*)(ClassSpecWriter&);

/// Adds a class's spec to the process-wide list. OPGATE_CLASS_SPEC calls this when the spec library is
/// loaded.
bool register_class_spec(std::string name, ClassSpecFunction function, const char* file, int line);

}  // namespace opgate

#define OPGATE_CLASS_SPEC_IMPL(name, parameter, id)                                                        \
  static void OPGATE_SPEC_CONCAT(opgate_class_spec_, id)(::opgate::ClassSpecWriter & parameter);           \
  static const bool OPGATE_SPEC_CONCAT(opgate_class_spec_registered_, id) =                                \
      ::opgate::register_class_spec(name, OPGATE_SPEC_CONCAT(opgate_class_spec_, id), __FILE__, __LINE__); \
  static void OPGATE_SPEC_CONCAT(opgate_class_spec_,                                                       \
                                 id)([[maybe_unused]] ::opgate::ClassSpecWriter & parameter)

/// OPGATE_CLASS_SPEC("namespace::Class", spec) { spec.dtypes(...); ... }
#define OPGATE_CLASS_SPEC(name, parameter) OPGATE_CLASS_SPEC_IMPL(name, parameter, __COUNTER__)
