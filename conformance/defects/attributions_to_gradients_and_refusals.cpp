#include <array>

#include "base/check_group.h"
#include "defects/attribution.h"
#include "inputs/variant_text.h"
#include "judging/fault.h"

namespace opgate {
namespace {

// A gradient that is wrong is wrong when it is computed again, in another layout, or differentiated.
const BrokenCase* wrong_gradient(const BrokenCase& broken, const Symptoms& all) {
  if (group_of_check(broken.check) != "grad" || broken.fault.kind == fault::kGradient || broken.is_crash())
    return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kGradient && each.fault.about == broken.fault.about &&
           is_undamaged(each.variant);
  });
}

// The right derivative of another function than the reference is not the reference's: grad.numeric compares
// the gradient with the operator's own slope, and has nothing to say.
const BrokenCase* derivative_of_wrong_values(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "grad.reference" || !broken.differs_in_values()) return nullptr;
  const BrokenCase* off_its_slope =
      all.find([](const BrokenCase& each) { return each.check == "grad.numeric"; });
  return off_its_slope != nullptr ? nullptr : all.at_undamaged_sample_of(broken, {fault::kValues});
}

// Where the forward of a derivative writes an argument, the gradients are those of other values than a call
// without gradients takes, and what eager leaves is not what a compiled program leaves.
const BrokenCase* forward_that_writes(const BrokenCase& broken, const Symptoms& all) {
  const bool of_gradients = group_of_check(broken.check) == "grad" || broken.fault.differs == "gradients";
  const bool of_both = broken.check == "compile.equal" && broken.differs_in_values();
  if ((!of_gradients && !of_both) || broken.is_crash()) return nullptr;
  return all.at_undamaged_samples({fault::kMutationWithGradients});
}

// One tensor given as two arguments gets the sum of their gradients.
const BrokenCase* gradient_of_the_other_argument(const BrokenCase& broken, const Symptoms& all) {
  if (broken.fault.kind != fault::kGradient || broken.variant.find('+') == std::string::npos) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kGradient && each.fault.about != broken.fault.about &&
           is_undamaged(each.variant) && broken.variant.find(each.fault.about) != std::string::npos;
  });
}

// A compiled program passes gradients on in layouts of its own.
const BrokenCase* gradient_in_a_program(const BrokenCase& broken, const Symptoms& all) {
  if (broken.fault.differs != "gradients") return nullptr;
  return all.find([](const BrokenCase& each) { return group_of_check(each.check) == "grad"; });
}

// Whether `x` is too long or `w` too short is for the caller to say: sizes that are never compared are
// one mistake.
const BrokenCase* crash_for_other_sizes(const BrokenCase& broken, const Symptoms& all) {
  const bool only_for_bad_input =
      broken.is_of_memory() && all.at_undamaged_samples({broken.fault.kind}) == nullptr;
  if (!broken.has_bad_sizes() || (broken.fault.kind != fault::kUnchecked && !only_for_bad_input))
    return nullptr;
  if (const BrokenCase* crash =
          all.find([](const BrokenCase& each) { return each.is_crash() && each.has_bad_sizes(); }))
    return crash;
  if (broken.is_of_memory()) return nullptr;
  return all.find([](const BrokenCase& each) { return each.is_of_memory() && each.has_bad_sizes(); });
}

// An argument that is not checked makes the kernel crash for some values, read elsewhere for others, and
// accept others.
const BrokenCase* crash_for_the_argument(const BrokenCase& broken, const Symptoms& all) {
  const bool only_for_bad_input =
      broken.is_of_memory() && all.at_undamaged_samples({broken.fault.kind}) == nullptr;
  if (broken.fault.kind != fault::kUnchecked && !only_for_bad_input) return nullptr;
  const auto crash_for = [&](std::string_view argument) {
    return argument.empty() ? nullptr : all.find([&](const BrokenCase& each) {
      return each.is_crash() && each.damaged_argument == argument;
    });
  };
  if (const BrokenCase* crash = crash_for(broken.damaged_argument)) return crash;
  // An index beyond a table that has become smaller is refused by the reference in the words for a larger
  // index.
  const BrokenCase* refused_alike = all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kUnchecked && !each.fault.about.empty() &&
           each.fault.about == broken.fault.about && crash_for(each.damaged_argument) != nullptr;
  });
  return refused_alike == nullptr ? nullptr : crash_for(refused_alike->damaged_argument);
}

constexpr std::array kToGradientsAndRefusals{
    Attribution{&wrong_gradient},        Attribution{&derivative_of_wrong_values},
    Attribution{&forward_that_writes},   Attribution{&gradient_of_the_other_argument},
    Attribution{&gradient_in_a_program}, Attribution{&crash_for_the_argument},
    Attribution{&crash_for_other_sizes},
};

}  // namespace

std::span<const Attribution> attributions_to_gradients_and_refusals() { return kToGradientsAndRefusals; }

}  // namespace opgate
