// class.pickle: at any point of an object's life, pickling loses nothing and makes a copy.
#include <ATen/core/class_type.h>
#include <fmt/format.h>

#include "classes/call_sequence.h"
#include "classes/method_values.h"
#include "judging/check.h"
#include "judging/verdict.h"
#include "spec/spec.h"

namespace opgate::class_pickle {
namespace {

constexpr size_t kSequences = 2;

// How an object is pickled and restored.
enum class Way {
  state,     // __setstate__(__getstate__()), at once
  snapshot,  // __setstate__ after further calls on the original
  bytes,     // through the bytes of a file
};

struct PickleRoundTrip {
  Sequence before;
  Sequence after;
  Way way;
};

using Found = std::optional<Finding>;

constexpr std::string_view kPromised =
    "an object that was pickled and read back behaves as the original does";
constexpr std::string_view kLost =
    "__getstate__ leaves out or rounds a part of the state, or __setstate__ does not put it back";

class RoundTripComparison {
 public:
  RoundTripComparison(const CallKey& key, const PickleRoundTrip& round_trip)
      : key_(key), round_trip_(round_trip) {
    // The answers of an object that is never pickled are what all others are compared with.
    const c10::IValue untouched = fresh();
    want_ = call_in_turn(key, untouched, round_trip.after);
    const std::vector<Answer> again = call_in_turn(key, fresh(), round_trip.after);
    // Bits are compared where two objects that are never pickled give the same bits.
    if (!unlike(again, exact(), "")) accuracy_ = exact();
    unsteady_ = unlike(again, accuracy_, "another new object after the same calls");
    if (unsteady_)
      unsteady_->likely = "the same calls give different results even without pickling; see class.state";
  }

  Found first_difference() {
    if (unsteady_) return unsteady_;
    const c10::IValue original = fresh();
    if (round_trip_.way == Way::bytes) {
      const Answer read = answer_of([&] { return through_bytes(original); }, key_.device);
      if (!read.ok()) return raised("writing and reading it with torch::jit::pickle_save raised", read);
      return goes_on(read.value, "the object read back from bytes", kLost);
    }
    const Answer state = answer_of([&] { return call_method(original, "__getstate__"); }, key_.device);
    if (!state.ok()) return raised("__getstate__ raised", state);
    if (round_trip_.way == Way::snapshot) {
      if (Found found = goes_on(original, "the original after __getstate__",
                                "__getstate__ changes the object; it must only read it"))
        return found;
    }
    const Answer made = answer_of([&] { return from_state(type(), state.value); }, key_.device);
    if (!made.ok()) return raised("__setstate__ raised", made);
    if (round_trip_.way == Way::snapshot) {
      return goes_on(made.value, "the object made from the state after further calls on the original",
                     "__getstate__ returns tensors that the object still writes; return copies, x.clone()");
    }
    if (Found found = goes_on(made.value, "the object made from the state", kLost)) return found;
    return goes_on(original, "the original after further calls on the object made from its state",
                   "both objects hold the same tensor; clone it in __getstate__ or in __setstate__");
  }

 private:
  const c10::ClassTypePtr& type() const { return key_.spec->torch_class->type; }

  c10::IValue fresh() const {
    c10::IValue object = construct(key_);
    call_in_turn(key_, object, round_trip_.before);
    return object;
  }

  Found raised(std::string_view what, const Answer& answer) const {
    return Finding{std::string(kPromised), fmt::format("{}: {}", what, *answer.raised), "", {}, detail()};
  }

  Found goes_on(const c10::IValue& object, std::string_view who, std::string_view likely) const {
    Found found = unlike(call_in_turn(key_, object, round_trip_.after), accuracy_, who);
    if (found) found->likely = likely;
    return found;
  }

  // A finding for the first answer that differs from that of the object that is never pickled.
  Found unlike(const std::vector<Answer>& got, Accuracy accuracy, std::string_view who) const {
    double ignored = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (const auto differs = difference(got[i], want_[i], accuracy, ignored)) {
        return Finding{std::string(kPromised),
                       fmt::format("`{}` of {}: {}", text_of({&round_trip_.after[i], 1}), who, *differs),
                       "",
                       {},
                       detail()};
      }
    }
    return std::nullopt;
  }

  std::vector<std::string> detail() const {
    const auto shown = [](const Sequence& calls) { return calls.empty() ? "nothing" : text_of(calls); };
    return {fmt::format("object  {}", key_.sample->name),
            fmt::format("before  {}", shown(round_trip_.before)),
            fmt::format("after   {}", shown(round_trip_.after))};
  }

  const CallKey& key_;
  const PickleRoundTrip& round_trip_;
  Accuracy accuracy_ = key_.spec->accuracy_for(key_.dtype);
  std::vector<Answer> want_;
  Found unsteady_;
};

Found difference_after(const CallKey& key, const PickleRoundTrip& round_trip) {
  return RoundTripComparison(key, round_trip).first_difference();
}

Finding shortened(const CallKey& key, PickleRoundTrip round_trip, Finding finding) {
  finding = shrink(round_trip.after, std::move(finding), [&](const Sequence& after) {
    return difference_after(key, {round_trip.before, after, round_trip.way});
  });
  return shrink(round_trip.before, std::move(finding), [&](const Sequence& before) {
    return difference_after(key, {before, round_trip.after, round_trip.way});
  });
}

std::optional<Finding> missing_method(const CallKey& key) {
  const c10::ClassType& type = *key.spec->torch_class->type;
  if (type.findMethod("__getstate__") != nullptr && type.findMethod("__setstate__") != nullptr)
    return std::nullopt;
  return Finding{
      "the class can be pickled, which torch.export.save and torch.jit.save need",
      "it has no __getstate__ and __setstate__",
      "add .def_pickle(get_state, set_state), or spec.not_exported() if the class is not meant for export"};
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  if (auto finding = missing_method(key)) return Judgement::fail(*std::move(finding));
  for (const Sequence& sequence : random_sequences(key, kSequences)) {
    for (auto middle = sequence.begin(); middle != sequence.end(); ++middle) {
      for (const Way way : {Way::state, Way::bytes, Way::snapshot}) {
        const PickleRoundTrip round_trip{{sequence.begin(), middle}, {middle, sequence.end()}, way};
        if (Found found = difference_after(key, round_trip))
          return Judgement::fail(shortened(key, round_trip, *std::move(found)));
      }
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(class_pickle, {.name = "class.pickle",
                                     .scope = {.ops = false,
                                               .classes = true,
                                               .variants = Scope::Variants::contiguous,
                                               .promised = Promise::picklable},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::class_pickle
