#include "defects/symptoms.h"
#include "inputs/variant_text.h"

#include <algorithm>

namespace opgate {
namespace {

using Faults = std::initializer_list<std::string_view>;

bool is_same_sample(const BrokenCase& one, const BrokenCase& other) {
  return one.sample == other.sample && one.dtype == other.dtype;
}

}  // namespace

const BrokenCase& Symptoms::add(BrokenCase broken) {
  const BrokenCase& added = cases_.emplace_back(std::move(broken));
  by_fault_[added.fault.kind].push_back(&added);
  return added;
}

const BrokenCase* Symptoms::find(const Test& test) const {
  const auto found = std::ranges::find_if(cases_, test);
  return found == cases_.end() ? nullptr : &*found;
}

const BrokenCase* Symptoms::find(Faults faults, const Test& test) const {
  for (const std::string_view fault : faults) {
    const auto cases = by_fault_.find(fault);
    if (cases == by_fault_.end()) continue;
    const auto found =
        std::ranges::find_if(cases->second, [&](const BrokenCase* each) { return test(*each); });
    if (found != cases->second.end()) return *found;
  }
  return nullptr;
}

const BrokenCase* Symptoms::with(Faults faults) const {
  return find(faults, [](const BrokenCase&) { return true; });
}

const BrokenCase* Symptoms::at_call_of(const BrokenCase& of, Faults faults) const {
  return find(faults,
              [&](const BrokenCase& each) { return is_same_sample(each, of) && each.variant == of.variant; });
}

const BrokenCase* Symptoms::at_undamaged_sample_of(const BrokenCase& of, Faults faults) const {
  return find(faults,
              [&](const BrokenCase& each) { return is_undamaged(each.variant) && is_same_sample(each, of); });
}

const BrokenCase* Symptoms::at_undamaged_samples(Faults faults) const {
  return find(faults, [](const BrokenCase& each) { return is_undamaged(each.variant); });
}

}  // namespace opgate
