// class.pickle: pickling loses nothing, at any point of an object's life, and what is pickled is a copy.
#include <ATen/core/class_type.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "classes/answers.h"
#include "classes/sequence.h"

namespace opgate::class_pickle {
namespace {

constexpr size_t kSequences = 2;

// How an object is pickled and made anew.
enum class Way {
  state,     // __setstate__(__getstate__()), at once
  snapshot,  // __setstate__ when the original has gone on
  bytes,     // through the bytes of a file
};

struct Trip {
  Sequence before;
  Sequence after;
  Way way;
};

using Found = std::optional<Finding>;

constexpr std::string_view kPromised =
    "an object that was pickled and read back goes on as the original does";
constexpr std::string_view kLost =
    "__getstate__ leaves out or rounds a part of the state, or __setstate__ does not put it back";

class Traveller {
 public:
  Traveller(const CallKey& key, const Trip& trip) : key_(key), trip_(trip) {
    // What an object gives that is never pickled.
    const c10::IValue untouched = fresh();
    want_ = drive(key, untouched, trip.after);
    const std::vector<Answer> again = drive(key, fresh(), trip.after);
    // Bits are demanded where the class gives the same bits twice.
    if (!unlike(again, exact(), "")) accuracy_ = exact();
    unsteady_ = unlike(again, accuracy_, "another new object after the same calls");
    if (unsteady_)
      unsteady_->likely = "without pickling already, the same calls do not give the same: see class.state";
  }

  Found travel() {
    if (unsteady_) return unsteady_;
    const c10::IValue original = fresh();
    if (trip_.way == Way::bytes) {
      const Answer read = answer_of([&] { return through_bytes(original); }, key_.device);
      if (!read.ok()) return raised("writing and reading it with torch::jit::pickle_save raised", read);
      return goes_on(read.value, "the object read back from bytes", kLost);
    }
    const Answer state = answer_of([&] { return call_method(original, "__getstate__"); }, key_.device);
    if (!state.ok()) return raised("__getstate__ raised", state);
    if (trip_.way == Way::snapshot) {
      if (Found found = goes_on(original, "the original after __getstate__",
                                "__getstate__ changes the object: it must only read"))
        return found;
    }
    const Answer made = answer_of([&] { return from_state(type(), state.value); }, key_.device);
    if (!made.ok()) return raised("__setstate__ raised", made);
    if (trip_.way == Way::snapshot) {
      return goes_on(made.value, "the object made from the state when the original had gone on",
                     "__getstate__ gives tensors that the object still writes into: give copies, x.clone()");
    }
    if (Found found = goes_on(made.value, "the object made from the state", kLost)) return found;
    return goes_on(original, "the original when the object made from its state had gone on",
                   "both hold the same tensor: clone it in __getstate__ or in __setstate__");
  }

 private:
  const c10::ClassTypePtr& type() const { return key_.spec->torch_class->type; }

  c10::IValue fresh() const {
    c10::IValue object = construct(key_);
    drive(key_, object, trip_.before);
    return object;
  }

  Found raised(std::string_view what, const Answer& answer) const {
    return Finding{std::string(kPromised), fmt::format("{}: {}", what, *answer.raised), "", detail()};
  }

  Found goes_on(const c10::IValue& object, std::string_view who, std::string_view likely) const {
    Found found = unlike(drive(key_, object, trip_.after), accuracy_, who);
    if (found) found->likely = likely;
    return found;
  }

  // The first answer that is not the untouched object's.
  Found unlike(const std::vector<Answer>& got, Accuracy accuracy, std::string_view who) const {
    double ignored = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (const auto differs = difference(got[i], want_[i], accuracy, ignored)) {
        return Finding{std::string(kPromised),
                       fmt::format("`{}` of {}: {}", text_of({&trip_.after[i], 1}), who, *differs), "",
                       detail()};
      }
    }
    return std::nullopt;
  }

  std::vector<std::string> detail() const {
    const auto shown = [](const Sequence& calls) { return calls.empty() ? "nothing" : text_of(calls); };
    return {fmt::format("object  {}", key_.sample->name), fmt::format("before  {}", shown(trip_.before)),
            fmt::format("after   {}", shown(trip_.after))};
  }

  const CallKey& key_;
  const Trip& trip_;
  Accuracy accuracy_ = *key_.spec->accuracy;
  std::vector<Answer> want_;
  Found unsteady_;
};

Found travel(const CallKey& key, const Trip& trip) { return Traveller(key, trip).travel(); }

Finding shortened(const CallKey& key, Trip trip, Finding finding) {
  finding = shrink(trip.after, std::move(finding), [&](const Sequence& after) {
    return travel(key, {trip.before, after, trip.way});
  });
  return shrink(trip.before, std::move(finding), [&](const Sequence& before) {
    return travel(key, {before, trip.after, trip.way});
  });
}

std::optional<Finding> missing_method(const CallKey& key) {
  const c10::ClassType& type = *key.spec->torch_class->type;
  if (type.findMethod("__getstate__") != nullptr && type.findMethod("__setstate__") != nullptr)
    return std::nullopt;
  return Finding{
      "the class can be pickled, as torch.export.save and torch.jit.save do",
      "it has no __getstate__ and __setstate__",
      "add .def_pickle(get_state, set_state); or spec.not_exported(), where it is not meant for export",
      {}};
}

Judgement judge(Evidence& evidence) {
  const CallKey& key = evidence.key();
  if (auto finding = missing_method(key)) return Judgement::fail(*std::move(finding));
  for (const Sequence& sequence : random_sequences(key, kSequences)) {
    for (auto middle = sequence.begin(); middle != sequence.end(); ++middle) {
      for (const Way way : {Way::state, Way::bytes, Way::snapshot}) {
        const Trip trip{{sequence.begin(), middle}, {middle, sequence.end()}, way};
        if (Found found = travel(key, trip)) return Judgement::fail(shortened(key, trip, *std::move(found)));
      }
    }
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    class_pickle,
    {.name = "class.pickle",
     .explanation =
         {.promise = "An object that is pickled at any point and read back behaves as the original, and the "
                     "two share nothing.",
          .why = "torch.export.save, torch.jit.save, copy.deepcopy and AOTInductor packages write a "
                 "TorchBind object by __getstate__ and read it by __setstate__. What these forget is gone in "
                 "production, where nobody compares.",
          .fix = "Put every member that a later call depends on into the state, in its own precision, as "
                 "copies:\n"
                 "  .def_pickle([](const c10::intrusive_ptr<T>& self) { return std::make_tuple(self->count,"
                 " self->sum.clone()); },\n"
                 "              [](std::tuple<int64_t, at::Tensor> state) { ... })",
          .example = "pytorch 191197: a SigmoidTransform().inv that is pickled comes back without the "
                     "transform that it inverts."},
     .worker = Worker::native,
     .scope = {.ops = false,
               .classes = true,
               .variants = Scope::Variants::contiguous,
               .promised = Promise::picklable},
     .judge = &judge});

}  // namespace
}  // namespace opgate::class_pickle
