#include <fmt/format.h>

#include <array>

#include "base/check_group.h"
#include "defects/attribution.h"
#include "inputs/call_key.h"
#include "inputs/variant_text.h"
#include "judging/fault.h"

namespace opgate {
namespace {

// Without a stack, a crash of the sample as it is explains those of other layouts, sizes and bad inputs that
// end alike.
const BrokenCase* crash_as_it_is(const BrokenCase& broken, const Symptoms& all) {
  if (!broken.is_crash() || !broken.judgement.stack.empty() || is_undamaged(broken.variant)) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == broken.fault.kind && each.judgement.stack.empty() &&
           is_undamaged(each.variant) && each.how_it_ended() == broken.how_it_ended();
  });
}

// Where the compiler has inlined a function for one dtype and not for another, the crash seems to be in its
// caller.
const BrokenCase* crash_in_the_caller(const BrokenCase& broken, const Symptoms& all) {
  const std::vector<std::string> mine = broken.innermost_functions();
  if (!broken.is_crash() || mine.size() < 2) return nullptr;
  return all.find([&](const BrokenCase& each) {
    const std::vector<std::string> theirs = each.innermost_functions();
    return each.fault.kind == broken.fault.kind && !theirs.empty() && theirs[0] == mine[1] &&
           each.how_it_ended() == broken.how_it_ended();
  });
}

// memory.pages puts a page without access where memory.bounds has poison: the fault is the read or write that
// the latter sees.
const BrokenCase* fault_at_a_page(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "memory.pages" || !broken.is_crash()) return nullptr;
  return all.with({fault::kWritesOutside, fault::kReadsOutside});
}

// An element between two pages is read, too: where the contiguous sample stays inside its memory and this
// layout does not, the layout is what the kernel gets wrong.
bool only_in_this_layout(const BrokenCase& broken, const Symptoms& all) {
  return is_rearranged(broken.variant) && all.at_undamaged_samples({broken.fault.kind}) == nullptr;
}

bool covers(const Arrangement& seen, const Arrangement& broken) {
  if (seen.arguments == broken.arguments) return true;
  // Where all arguments lie in a layout, the one that is read wrongly is among them; "x+y" are two in one
  // storage.
  return (broken.arguments == "all" || broken.arguments.find(seen.arguments) != std::string_view::npos) &&
         seen.layout == broken.layout;
}

const BrokenCase* layout_of_the_argument(const BrokenCase& broken, const Symptoms& all) {
  const Arrangement mine = arrangement_of(broken.variant);
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kLayout && is_rearranged(each.variant) &&
           covers(arrangement_of(each.variant), mine);
  });
}

// The simulated device ends a kernel at its first access outside of an allocation.
const BrokenCase* device_failure_by_layout(const BrokenCase& broken, const Symptoms& all) {
  if (!broken.is_crash() || broken.device != kSimulatedDevice || !is_rearranged(broken.variant))
    return nullptr;
  const BrokenCase* const as_it_is = all.find(
      [&](const BrokenCase& each) { return each.group() == broken.group() && is_undamaged(each.variant); });
  return as_it_is == nullptr ? layout_of_the_argument(broken, all) : nullptr;
}

const BrokenCase* memory_outside_by_layout(const BrokenCase& broken, const Symptoms& all) {
  if (!broken.is_of_memory() || !only_in_this_layout(broken, all)) return nullptr;
  return layout_of_the_argument(broken, all);
}

// Something is kept for the sizes of a call, whatever the strides of the argument are.
bool is_kept_for_sizes(const BrokenCase& broken) {
  return broken.fault.kind == fault::kKept && !broken.fault.about.empty() &&
         broken.fault.about != fault::kFirstCall;
}

// What is kept for the sizes of a call is wrong for other strides of the argument: the layout by itself is
// read as it should be.
const BrokenCase* kept_for_other_strides(const BrokenCase& broken, const Symptoms& all) {
  const bool is_of_layout = broken.fault.kind == fault::kLayout;
  if (!is_of_layout && !(broken.differs_in_values() && is_rearranged(broken.variant))) return nullptr;
  const std::string mine = fmt::format(
      "+{}+", is_rearranged(broken.variant) ? arrangement_of(broken.variant).arguments : broken.fault.about);
  return all.find([&](const BrokenCase& each) {
    return is_kept_for_sizes(each) &&
           (mine == "+all+" || mine.find(fmt::format("+{}+", each.fault.about)) != std::string::npos);
  });
}

// Where all arguments lie in a layout, value.layout fails because of the one whose layout alone makes it
// fail.
const BrokenCase* layout_of_all(const BrokenCase& broken, const Symptoms& all) {
  const Arrangement mine = arrangement_of(broken.variant);
  if (broken.fault.kind != fault::kLayout || !is_rearranged(broken.variant)) return nullptr;
  if (mine.arguments != "all" && mine.arguments.find('+') == std::string_view::npos) return nullptr;
  return all.find([&](const BrokenCase& each) {
    const Arrangement seen = arrangement_of(each.variant);
    return each.fault.kind == fault::kLayout && is_rearranged(each.variant) &&
           seen.arguments != mine.arguments && seen.arguments != "all" && covers(seen, mine);
  });
}

// Other values in the layout that value.layout says is not followed: gradients, exported programs and
// packages read the argument as the operator does.
const BrokenCase* other_check_of_the_layout(const BrokenCase& broken, const Symptoms& all) {
  if (broken.fault.kind == fault::kLayout || !broken.differs_in_values() || !is_rearranged(broken.variant))
    return nullptr;
  if (is_kept_for_sizes(broken)) return nullptr;
  const bool fails_undamaged = all.find([&](const BrokenCase& each) {
    return each.check == broken.check && is_undamaged(each.variant);
  }) != nullptr;
  return fails_undamaged ? nullptr : layout_of_the_argument(broken, all);
}

// Offsets of 2^31 elements are offsets: a kernel that takes the strides of another argument faults there.
const BrokenCase* crash_far_away(const BrokenCase& broken, const Symptoms& all) {
  return broken.check == "value.index64" && broken.is_crash() ? all.with({fault::kLayout}) : nullptr;
}

// Values that depend on memory outside, or on memory that is not written, and values of a call that damages
// memory, are wrong in the same call.
const BrokenCase* wrong_values_by_memory(const BrokenCase& broken, const Symptoms& all) {
  const std::string& kind = broken.fault.kind;
  if (!broken.differs_in_values() || broken.is_of_memory() || group_of_check(broken.check) == "grad")
    return nullptr;
  if (kind == fault::kLayout || kind == fault::kUnstable) return nullptr;
  return all.at_call_of(broken, {fault::kWritesOutside, fault::kReadsOutside, fault::kUninitialised});
}

// A result in memory that belongs to nothing changes whenever something else is allocated.
const BrokenCase* result_in_foreign_memory(const BrokenCase& broken, const Symptoms& all) {
  const bool may_change =
      broken.differs_in_values() || broken.is_of_memory() || broken.fault.kind == fault::kAlias;
  if (!may_change || broken.fault.kind == fault::kDangling) return nullptr;
  return all.with({fault::kDangling});
}

constexpr std::array kToMemory{
    Attribution{&result_in_foreign_memory},  Attribution{&crash_as_it_is},
    Attribution{&crash_in_the_caller},       Attribution{&fault_at_a_page},
    Attribution{&kept_for_other_strides},    Attribution{&layout_of_all},
    Attribution{&memory_outside_by_layout},  Attribution{&device_failure_by_layout},
    Attribution{&wrong_values_by_memory},    Attribution{&crash_far_away},
    Attribution{&other_check_of_the_layout},
};

}  // namespace

std::span<const Attribution> attributions_to_memory() { return kToMemory; }

}  // namespace opgate
