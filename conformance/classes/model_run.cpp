#include "classes/model_run.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "classes/method_values.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// A result with a copy from the time of its call, to notice a later change.
struct Result {
  std::string call;
  c10::IValue value;
  c10::IValue copy;
};

class ObjectBesideModel {
 public:
  ObjectBesideModel(const CallKey& key, Handling handling, std::string name)
      : key_(key), handling_(handling), name_(std::move(name)) {
    constructed_with_ = constructor_arguments(key);
    make_model(deep_copy(constructed_with_));
    object_ = construct(key, constructed_with_);
    if (handling == Handling::arguments_overwritten) {
      for (const c10::IValue& value : constructed_with_) overwrite(value);
      constructed_with_.clear();
    }
  }

  std::optional<Mismatch> call(const MethodCall& call) {
    torch::jit::Stack arguments = arguments_of(key_, call);
    const torch::jit::Stack before = deep_copy(arguments);
    const torch::jit::Stack for_model = deep_copy(arguments);
    const Answer got =
        answer_of([&] { return call_method(object_, call.method->name, arguments); }, key_.device);
    const Answer want = answer_of([&] { return call.method->call(model_.get(), for_model); }, key_.device);
    const std::string text = text_of({&call, 1});
    if (auto mismatch = unlike_model(text, got, want)) return mismatch;
    if (auto mismatch = changed_argument(text, arguments, before)) return mismatch;
    if (!call.method->may_share) {
      if (auto mismatch = returned_argument(text, got, arguments)) return mismatch;
      if (auto mismatch = changed_result(text)) return mismatch;
    }
    return handle(text, call, got, std::move(arguments));
  }

  double worst_ulps() const { return worst_ulps_; }

 private:
  void make_model(const torch::jit::Stack& arguments) {
    const Answer made = answer_of(
        [&] {
          model_ = key_.spec->torch_class->model.make(arguments);
          return c10::IValue();
        },
        key_.device);
    if (made.ok()) return;
    throw setup_error("{}: the model of {} refuses the constructor arguments {}: {}", key_.sample->where,
                      key_.spec->id, key_.sample->name, *made.raised);
  }

  std::optional<Mismatch> unlike_model(const std::string& call, const Answer& got, const Answer& want) {
    const auto differs = difference(got, want, key_.spec->accuracy_for(key_.dtype), worst_ulps_);
    if (!differs) return std::nullopt;
    const std::string_view meanwhile = to_string(handling_);
    return Mismatch{fmt::format("each call gives what the model of the spec gives{}{}",
                                meanwhile.empty() ? "" : ", also where ", meanwhile),
                    fmt::format("{}`{}`: {}", name_, call, *differs), cause()};
  }

  std::string cause() const {
    switch (handling_) {
      case Handling::kept:
        return "";
      case Handling::arguments_overwritten:
        return "the object keeps a tensor (or list) of the caller: keep a copy, x.clone()";
      case Handling::results_overwritten:
        return "the result shares memory with the object's state: return a copy, state.clone()";
      case Handling::beside_another:
        return "objects share state: a static or global variable, or memory that both refer to";
    }
    return "";
  }

  std::optional<Mismatch> changed_argument(const std::string& call, const torch::jit::Stack& arguments,
                                           const torch::jit::Stack& before) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      double ignored = 0;
      const auto differs = difference(arguments[i], before[i], exact(), ignored);
      if (!differs) continue;
      return Mismatch{"a method does not write into its arguments",
                      fmt::format("{}`{}` changed argument {}: {}", name_, call, i, *differs),
                      "an in-place operation on the argument or on a view of it: work on a copy"};
    }
    return std::nullopt;
  }

  std::optional<Mismatch> returned_argument(const std::string& call, const Answer& got,
                                            const torch::jit::Stack& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!got.ok() || !share_memory(got.value, arguments[i])) continue;
      return Mismatch{"a result shares no memory with an argument, unless the spec says .may_share()",
                      fmt::format("{}`{}` gave a tensor in the storage of argument {}", name_, call, i),
                      "the argument itself, or a view of it, is returned: return a copy"};
    }
    return std::nullopt;
  }

  std::optional<Mismatch> changed_result(const std::string& call) {
    for (const Result& earlier : results_) {
      double ignored = 0;
      const auto differs = difference(earlier.value, earlier.copy, exact(), ignored);
      if (!differs) continue;
      return Mismatch{"a result belongs to the caller: no later call changes it",
                      fmt::format("the result of `{}` was changed by `{}`: {}", earlier.call, call, *differs),
                      "the result shares memory with the object's state: return a copy, state.clone()"};
    }
    return std::nullopt;
  }

  std::optional<Mismatch> handle(const std::string& text, const MethodCall& call, const Answer& got,
                                 torch::jit::Stack arguments) {
    if (handling_ == Handling::arguments_overwritten) {
      for (const c10::IValue& value : arguments) overwrite(value);
    } else {
      arguments_.push_back(std::move(arguments));
    }
    if (call.method->may_share || !got.ok()) return std::nullopt;
    if (handling_ == Handling::results_overwritten) overwrite(got.value);
    if (handling_ == Handling::kept) results_.push_back({text, got.value, deep_copy(got.value)});
    return std::nullopt;
  }

  const CallKey& key_;
  Handling handling_;
  std::string name_;  // the object's name in messages, where there are two objects: "b."
  torch::jit::Stack constructed_with_;
  c10::IValue object_;
  std::shared_ptr<void> model_;
  std::vector<torch::jit::Stack> arguments_;  // kept alive, so that their memory is not reused
  std::vector<Result> results_;
  double worst_ulps_ = 0;
};

MethodCall with_other_values(MethodCall call) {
  call.value_name += "/other";
  return call;
}

}  // namespace

std::string_view to_string(Handling handling) {
  switch (handling) {
    case Handling::kept:
      return "";
    case Handling::arguments_overwritten:
      return "the caller writes into the arguments after each call and frees them";
    case Handling::results_overwritten:
      return "the caller writes into each result";
    case Handling::beside_another:
      return "another object b is called in between: the same calls, the last one first";
  }
  return "";
}

ModelRun run_beside_model(const CallKey& key, const Sequence& sequence, Handling handling) {
  const bool two = handling == Handling::beside_another;
  ObjectBesideModel object(key, handling, two ? "a." : "");
  std::optional<ObjectBesideModel> other;
  if (two) other.emplace(key, handling, "b.");
  ModelRun run;
  for (size_t i = 0; i < sequence.size() && !run.mismatch; ++i) {
    run.mismatch = object.call(sequence[i]);
    if (other && !run.mismatch)
      run.mismatch = other->call(with_other_values(sequence[sequence.size() - 1 - i]));
  }
  run.worst_ulps = object.worst_ulps();
  return run;
}

}  // namespace opgate
