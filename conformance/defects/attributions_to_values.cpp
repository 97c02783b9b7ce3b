#include <array>

#include "base/check_group.h"
#include "defects/attribution.h"
#include "inputs/variant_text.h"
#include "judging/fault.h"

namespace opgate {
namespace {

bool is_of_first_call(const BrokenCase& broken) {
  return broken.fault.kind == fault::kKept && broken.fault.about == fault::kFirstCall;
}

// Two runs of an operator whose results change by themselves differ, whatever a check has changed between
// them.
const BrokenCase* unstable_results(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  if (kind == fault::kValues || kind == fault::kLayout || kind == fault::kUnstable) return nullptr;
  if (is_of_first_call(broken)) return nullptr;
  const bool compares_runs = kind == fault::kReadsOutside || kind == fault::kUninitialised ||
                             kind == fault::kKept || broken.differs_in_values() ||
                             broken.fault.about == "test_aot_dispatch_dynamic";
  if (!compares_runs) return nullptr;
  return all.with({fault::kUnstable});
}

// A program or a later call draws other numbers than the call that it is compared with.
const BrokenCase* random_numbers(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  const bool compares_runs = broken.differs_in_values() || kind == fault::kUnstable || kind == fault::kKept ||
                             kind == fault::kLayout || kind == fault::kReadsOutside ||
                             kind == fault::kUninitialised || broken.check == "aoti.cross" ||
                             broken.check == "opcheck";
  return compares_runs && kind != fault::kRandom ? all.with({fault::kRandom}) : nullptr;
}

// What is wrong for the sample as it is stays wrong in other layouts, threads, batches and sequences.
const BrokenCase* wrong_as_it_is(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  if (!broken.differs_in_values() || broken.is_of_memory() || group_of_check(broken.check) == "grad")
    return nullptr;
  if (kind == fault::kLayout || kind == fault::kUnstable || is_of_first_call(broken)) return nullptr;
  const BrokenCase* wrong = all.at_undamaged_sample_of(broken, {fault::kValues});
  return wrong != nullptr && wrong->check == broken.check && wrong->variant == broken.variant ? nullptr
                                                                                              : wrong;
}

// A sequence of calls names its first sample; the call that is wrong by itself is another sample's.
const BrokenCase* wrong_in_a_sequence(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "run.sequence" || broken.fault.kind != fault::kValues) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kValues && each.check != broken.check && is_undamaged(each.variant);
  });
}

// A bad input that the reference takes is computed by the same formula.
const BrokenCase* wrong_for_bad_input(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "error.raises" || !broken.differs_in_values()) return nullptr;
  return all.at_undamaged_samples({fault::kValues});
}

// What is wrong for empty tensors is wrong, too, where one of several is empty and the reference takes it.
const BrokenCase* wrong_where_one_is_empty(const BrokenCase& broken, const Symptoms& all) {
  const bool is_empty = broken.damage && broken.damage->kind == InputDamage::Kind::no_rows;
  if (broken.check != "error.raises" || !is_empty || broken.is_crash()) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.check == "value.empty" && each.fault.differs == broken.fault.differs && !each.is_crash();
  });
}

// Whichever check makes the first call with the sizes of a sample sees what that call gives.
const BrokenCase* first_call_with_new_sizes(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  const bool may_be_first = kind == fault::kValues || kind == fault::kUnstable || kind == fault::kKept;
  if (is_of_first_call(broken) || !may_be_first || !is_undamaged(broken.variant)) return nullptr;
  return all.find(&is_of_first_call);
}

// Several threads, and the calls of one package, share what is kept from call to call.
const BrokenCase* kept_between_calls(const BrokenCase& broken, const Symptoms& all) {
  const bool makes_calls = broken.check == "run.threads" || group_of_check(broken.check) == "aoti";
  return makes_calls && broken.differs_in_values() ? all.with({fault::kKept}) : nullptr;
}

const BrokenCase* threads_in_packages(const BrokenCase& broken, const Symptoms& all) {
  return broken.check == "aoti.threads" ? all.with({"run.threads", fault::kKept}) : nullptr;
}

// The dtype is refused as a whole: samples in it cannot be called.
const BrokenCase* refused_dtype(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check == "value.dtype" || broken.differs_in_values() || broken.is_crash()) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.check == "value.dtype" && each.dtype == broken.dtype && each.fault.kind != fault::kMessage;
  });
}

// Work on a stream that nothing orders with the current one is wrong, too, in a graph and on another device,
// and leaves results unwritten.
const BrokenCase* unordered_stream(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  const bool depends_on_order = broken.check == "run.graph" || broken.check == "run.device" ||
                                kind == fault::kUninitialised || kind == fault::kLayout;
  return depends_on_order ? all.with({"run.stream"}) : nullptr;
}

// What a race leaves in memory, or leaves unwritten, is wrong in some orders of threads and right in others.
const BrokenCase* race(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  const bool depends_on_order = kind == fault::kUninitialised || kind == fault::kUnstable ||
                                kind == fault::kKept || broken.differs_in_values();
  return depends_on_order && broken.check != "run.race" ? all.with({"run.race"}) : nullptr;
}

constexpr std::array kToValues{
    Attribution{&unordered_stream},    Attribution{&race},
    Attribution{&random_numbers},      Attribution{&first_call_with_new_sizes},
    Attribution{&unstable_results},    Attribution{&wrong_as_it_is},
    Attribution{&wrong_in_a_sequence}, Attribution{&wrong_for_bad_input},
    Attribution{&kept_between_calls},  Attribution{&threads_in_packages},
    Attribution{&refused_dtype},       Attribution{&wrong_where_one_is_empty},
};

}  // namespace

std::span<const Attribution> attributions_to_values() { return kToValues; }

}  // namespace opgate
