#include "classes/course.h"

#include <fmt/format.h>

#include "classes/answers.h"

namespace opgate {
namespace {

// A result as it was when it came, to see whether it stays so.
struct Result {
  std::string call;
  c10::IValue value;
  c10::IValue copy;
};

class Follower {
 public:
  Follower(const CallKey& key, Handling handling, std::string name)
      : key_(key), handling_(handling), name_(std::move(name)) {
    constructed_with_ = constructor_arguments(key);
    make_model(copied(constructed_with_));
    object_ = construct(key, constructed_with_);
    if (handling == Handling::arguments_overwritten) {
      for (const c10::IValue& value : constructed_with_) overwrite(value);
      constructed_with_.clear();
    }
  }

  std::optional<Mishap> call(const MethodCall& call) {
    torch::jit::Stack arguments = arguments_of(key_, call);
    const torch::jit::Stack before = copied(arguments);
    const torch::jit::Stack for_model = copied(arguments);
    const Answer got =
        answer_of([&] { return call_method(object_, call.method->name, arguments); }, key_.device);
    const Answer want = answer_of([&] { return call.method->model(model_.get(), for_model); }, key_.device);
    const std::string text = text_of({&call, 1});
    if (auto mishap = unlike_model(text, got, want)) return mishap;
    if (auto mishap = changed_argument(text, arguments, before)) return mishap;
    if (!call.method->may_share) {
      if (auto mishap = returned_argument(text, got, arguments)) return mishap;
      if (auto mishap = changed_result(text)) return mishap;
    }
    return handle(text, call, got, std::move(arguments));
  }

  double worst_ulps() const { return worst_ulps_; }

 private:
  void make_model(const torch::jit::Stack& arguments) {
    const Answer made = answer_of(
        [&] {
          model_ = key_.spec->torch_class->make_model(arguments);
          return c10::IValue();
        },
        key_.device);
    if (made.ok()) return;
    throw SetupError(fmt::format("{}: the model of {} refuses the constructor arguments {}: {}",
                                 key_.sample->where, key_.spec->id, key_.sample->name, *made.raised));
  }

  std::optional<Mishap> unlike_model(const std::string& call, const Answer& got, const Answer& want) {
    const auto differs = difference(got, want, *key_.spec->accuracy, worst_ulps_);
    if (!differs) return std::nullopt;
    const std::string_view meanwhile = to_string(handling_);
    return Mishap{fmt::format("each call gives what the model of the spec gives{}{}",
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

  std::optional<Mishap> changed_argument(const std::string& call, const torch::jit::Stack& arguments,
                                         const torch::jit::Stack& before) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      double ignored = 0;
      const auto differs = difference(arguments[i], before[i], exact(), ignored);
      if (!differs) continue;
      return Mishap{"a method does not write into its arguments",
                    fmt::format("{}`{}` changed argument {}: {}", name_, call, i, *differs),
                    "an in-place operation on the argument or on a view of it: work on a copy"};
    }
    return std::nullopt;
  }

  std::optional<Mishap> returned_argument(const std::string& call, const Answer& got,
                                          const torch::jit::Stack& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!got.ok() || !share_memory(got.value, arguments[i])) continue;
      return Mishap{"a result shares no memory with an argument, unless the spec says .may_share()",
                    fmt::format("{}`{}` gave a tensor in the storage of argument {}", name_, call, i),
                    "the argument itself, or a view of it, is returned: return a copy"};
    }
    return std::nullopt;
  }

  std::optional<Mishap> changed_result(const std::string& call) {
    for (const Result& earlier : results_) {
      double ignored = 0;
      const auto differs = difference(earlier.value, earlier.copy, exact(), ignored);
      if (!differs) continue;
      return Mishap{"a result is the caller's: it stays as it came, whatever is called later",
                    fmt::format("the result of `{}` was changed by `{}`: {}", earlier.call, call, *differs),
                    "the result shares memory with the object's state: return a copy, state.clone()"};
    }
    return std::nullopt;
  }

  std::optional<Mishap> handle(const std::string& text, const MethodCall& call, const Answer& got,
                               torch::jit::Stack arguments) {
    if (handling_ == Handling::arguments_overwritten) {
      for (const c10::IValue& value : arguments) overwrite(value);
    } else {
      arguments_.push_back(std::move(arguments));
    }
    if (call.method->may_share || !got.ok()) return std::nullopt;
    if (handling_ == Handling::results_overwritten) overwrite(got.value);
    if (handling_ == Handling::kept) results_.push_back({text, got.value, copied(got.value)});
    return std::nullopt;
  }

  const CallKey& key_;
  Handling handling_;
  std::string name_;  // of the object, where there are several: "b."
  torch::jit::Stack constructed_with_;
  c10::IValue object_;
  std::shared_ptr<void> model_;
  std::vector<torch::jit::Stack> arguments_;  // kept alive: freed memory would be given out again
  std::vector<Result> results_;
  double worst_ulps_ = 0;
};

MethodCall with_other_values(MethodCall call) {
  call.stream += "/other";
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

Course follow(const CallKey& key, const Sequence& sequence, Handling handling) {
  const bool two = handling == Handling::beside_another;
  Follower object(key, handling, two ? "a." : "");
  std::optional<Follower> other;
  if (two) other.emplace(key, handling, "b.");
  Course course;
  for (size_t i = 0; i < sequence.size() && !course.mishap; ++i) {
    course.mishap = object.call(sequence[i]);
    if (other && !course.mishap)
      course.mishap = other->call(with_other_values(sequence[sequence.size() - 1 - i]));
  }
  course.worst_ulps = object.worst_ulps();
  return course;
}

}  // namespace opgate
