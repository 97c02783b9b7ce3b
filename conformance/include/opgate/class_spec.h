// What the author of a TorchBind class writes: a plain C++ model of it, and how it may be made and called.
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
// Random sequences of calls, objects beside each other, tensors overwritten after the call, pickling at any
// point and flattening follow from it.
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

/// One method: the argument sets with which it may be called at any time, and what the model does then.
struct ClassMethod {
  std::string name;
  std::vector<Sample> calls;
  std::function<c10::IValue(void* model, const torch::jit::Stack& arguments)> model;
  std::type_index model_type;
  std::vector<c10::TypePtr> takes;  ///< the types that the model's function takes, itself left out
  c10::TypePtr gives;
  bool may_share = false;  ///< its result may share memory with an argument or with the object
  std::string where;       ///< file:line
};

/// What is promised of a TorchBind class, beyond what every Spec says.
struct ClassPromises {
  std::function<std::shared_ptr<void>(const torch::jit::Stack& arguments)> make_model;
  std::type_index model_type = typeid(void);
  std::vector<c10::TypePtr> model_takes;
  std::vector<ClassMethod> methods;
  bool exported = true;
  c10::ClassTypePtr type;  ///< once its library is loaded
};

/// The words of a class's spec. Each throws SpecError, naming file and line, for what contradicts itself.
class ClassSpecWriter {
 public:
  explicit ClassSpecWriter(Spec& spec);

  /// The dtypes of tensor arguments, on every device or on one.
  ClassSpecWriter& dtypes(Dtypes accepted);
  ClassSpecWriter& dtypes(c10::DeviceType device, Dtypes accepted);

  /// How near to the model results are; without it they have the same bits.
  ClassSpecWriter& accuracy(Accuracy promised);

  /// The model and what its constructor takes: spec.model<Counter(int64_t)>(). The model's own arguments and
  /// results are never written to: it may keep and return what it likes.
  template <class Signature>
  ClassSpecWriter& model() {
    return model_made_by(static_cast<Signature*>(nullptr));
  }

  /// One set of constructor arguments; trailing ones with a default may be left out.
  ClassSpecWriter& construct(std::vector<Argument> arguments,
                             std::source_location here = std::source_location::current());

  /// Names the constructor arguments just written, where their shapes alone would not tell them from others.
  ClassSpecWriter& named(std::string name);

  /// A method, and the model's function for it: a member of the model, or a callable that takes the model
  /// first. An exception of the model says that the class must raise one, too.
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

  /// One set of arguments with which the method just written may be called at any time; without any it is
  /// called with none. Tensors have other values in each call.
  ClassSpecWriter& with(std::vector<Argument> arguments,
                        std::source_location here = std::source_location::current());

  /// The result of the method just written may share memory with an argument or with the object, and then
  /// changes with it.
  ClassSpecWriter& may_share();

  /// The class is not meant for torch.export: it needs neither def_pickle nor __obj_flatten__. What it has
  /// of them is checked.
  ClassSpecWriter& not_exported();

  /// As SpecWriter::planted_for.
  ClassSpecWriter& planted_for(std::string check, std::string twin);

 private:
  template <class Model, class... Arguments>
  ClassSpecWriter& model_made_by(Model (*)(Arguments...)) {
    promises_.make_model = [](const torch::jit::Stack& arguments) -> std::shared_ptr<void> {
      return std::apply([](auto&... values) { return std::make_shared<Model>(values...); },
                        lvalues(unpacked<Arguments...>(arguments)));
    };
    promises_.model_type = typeid(Model);
    promises_.model_takes = {c10::getTypePtrCopy<std::decay_t<Arguments>>()...};
    return *this;
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
                       {},
                       boxed,
                       typeid(Model),
                       {c10::getTypePtrCopy<std::decay_t<Arguments>>()...},
                       c10::getTypePtrCopy<std::decay_t<Result>>(),
                       false,
                       ""},
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

  ClassSpecWriter& add_method(ClassMethod method, const std::source_location& here);
  ClassMethod& last_method(std::string_view word);

  Spec& spec_;
  SpecWriter writer_;
  ClassPromises& promises_;
};

using ClassSpecFunction = void (*)(ClassSpecWriter&);

/// Adds a class's spec to the process-wide list; OPGATE_CLASS_SPEC calls it when the spec library is loaded.
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
