// class.flatten: __obj_flatten__ gives the whole state of an object, in the form that torch.export reads.
#include <ATen/core/class_type.h>
#include <fmt/format.h>

#include <algorithm>

#include "classes/call_sequence.h"
#include "classes/flattened.h"
#include "classes/method_values.h"
#include "judging/check.h"
#include "judging/verdict.h"
#include "spec/spec.h"

namespace opgate::class_flatten {
namespace {

constexpr size_t kSequences = 2;

// An object's life up to some point: what it flattens to there, and how it behaves from there on.
struct Moment {
  CallKey key;  // of its constructor arguments
  Sequence before;
  c10::IValue flattened;
  std::vector<Answer> after;
};

std::string told(const Moment& moment) {
  const std::string calls = moment.before.empty() ? "" : ", then " + text_of(moment.before);
  return moment.key.sample->name + calls;
}

class Examination {
 public:
  explicit Examination(const CallKey& key) : key_(key), probe_(every_call(key)) {}

  std::optional<Finding> examine() {
    std::vector<Moment> moments;
    for (Moment& moment : lives()) {
      if (auto finding = look_at(moment)) return finding;
      moments.push_back(std::move(moment));
    }
    return indistinct(moments);
  }

 private:
  // New objects for each set of constructor arguments, and every point of some call sequences. Moments
  // after few calls come first, so that a finding is short.
  std::vector<Moment> lives() const {
    std::vector<Moment> all;
    for (const Sample& sample : key_.spec->samples) {
      CallKey key = key_;
      key.sample = &sample;
      all.push_back({key, {}, {}, {}});
    }
    const auto own = [&](const Moment& moment) { return moment.key.sample == key_.sample; };
    std::ranges::stable_partition(all, own);
    for (const Sequence& sequence : random_sequences(key_, kSequences)) {
      for (auto end = sequence.begin() + 1; end != sequence.end(); ++end)
        all.push_back({key_, {sequence.begin(), end}, {}, {}});
    }
    std::ranges::stable_sort(all, {}, [](const Moment& moment) { return moment.before.size(); });
    return all;
  }

  c10::IValue grown(const Moment& moment) const {
    c10::IValue object = construct(moment.key);
    call_in_turn(moment.key, object, moment.before);
    return object;
  }

  // Judges one object by itself, and fills in the moment for the comparison with others.
  std::optional<Finding> look_at(Moment& moment) const {
    const c10::IValue object = grown(moment);
    const auto flatten = [&](const c10::IValue& one) {
      return answer_of([&] { return deep_copy(call_method(one, "__obj_flatten__")); }, key_.device);
    };
    const Answer flattened = flatten(object);
    if (!flattened.ok())
      return finding("it can be flattened at any time", "it raised: " + *flattened.raised, "", moment);
    if (const auto wrong = malformed(flattened.value)) {
      return finding("it gives a tuple of (name, value) tuples, each name once, with plain values", *wrong,
                     "write each member once, by its own name: "
                     "std::make_tuple(std::make_tuple(std::string(\"low\"), self->low), ...)",
                     moment);
    }
    double ignored = 0;
    if (const auto differs = difference(flatten(object), flattened, exact(), ignored)) {
      return finding("it gives the same when called again", "the second time: " + *differs,
                     "it counts, draws random numbers or caches something; it must only read the object",
                     moment);
    }
    const c10::IValue twin = grown(moment);
    moment.after = call_in_turn(key_, twin, probe_);
    if (const auto differs =
            difference(flatten(grown(moment)), flattened, key_.spec->accuracy_for(key_.dtype), ignored)) {
      return finding("it gives the same for objects that are equal",
                     "for another object after the same calls: " + *differs,
                     "its result contains an address, a time, a serial number or the order of a hash map",
                     moment);
    }
    const std::vector<Answer> after = call_in_turn(key_, object, probe_);
    if (const auto differs = behave_unlike(after, moment.after)) {
      return finding("it does not change the object", "after it, " + *differs, "it must only read the object",
                     moment);
    }
    moment.flattened = flattened.value;
    return std::nullopt;
  }

  std::optional<std::string> behave_unlike(const std::vector<Answer>& got,
                                           const std::vector<Answer>& want) const {
    double ignored = 0;
    for (size_t i = 0; i < probe_.size(); ++i) {
      const auto differs = difference(got[i], want[i], key_.spec->accuracy_for(key_.dtype), ignored);
      if (differs) return fmt::format("`{}`: {}", text_of({&probe_[i], 1}), *differs);
    }
    return std::nullopt;
  }

  // Looks for two objects that flatten to the same values and behave differently.
  std::optional<Finding> indistinct(const std::vector<Moment>& moments) const {
    for (size_t i = 1; i < moments.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!same(moments[i].flattened, moments[j].flattened)) continue;
        const auto differs = behave_unlike(moments[i].after, moments[j].after);
        if (!differs) continue;
        return Finding{
            "__obj_flatten__: objects that behave differently flatten differently",
            fmt::format("two objects flatten to the same values, but the one differs from the other in {}",
                        *differs),
            "a member that later calls depend on is left out",
            {},
            {fmt::format("the one    {}", told(moments[i])), fmt::format("the other  {}", told(moments[j])),
             fmt::format("then       {}", text_of(probe_))}};
      }
    }
    return std::nullopt;
  }

  static Finding finding(std::string_view promised, std::string happened, std::string_view likely,
                         const Moment& moment) {
    return {fmt::format("__obj_flatten__: {}", promised),
            std::move(happened),
            std::string(likely),
            {},
            {fmt::format("object  {}", told(moment))}};
  }

  const CallKey& key_;
  Sequence probe_;
};

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  if (key.spec->torch_class->type->findMethod("__obj_flatten__") == nullptr) {
    return Judgement::fail(
        {"the class can be flattened, as torch.export's fake classes need", "it has no __obj_flatten__",
         "add .def(\"__obj_flatten__\", ...), or spec.not_exported() if the class is not meant for export"});
  }
  auto finding = Examination(key).examine();
  return finding ? Judgement::fail(*std::move(finding)) : Judgement::pass();
}

OPGATE_REGISTER_CHECK(class_flatten, {.name = "class.flatten",
                                      .scope = {.ops = false,
                                                .classes = true,
                                                .variants = Scope::Variants::contiguous,
                                                .promised = Promise::flattenable},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::class_flatten
