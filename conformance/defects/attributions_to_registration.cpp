#include <algorithm>
#include <array>

#include "base/check_group.h"
#include "defects/attribution.h"
#include "inputs/variant_text.h"
#include "judging/fault.h"

namespace opgate {
namespace {

// A result that is the argument itself has its strides and offset, which a fake kernel that allocates cannot
// foresee.
const BrokenCase* fake_of_an_alias(const BrokenCase& broken, const Symptoms& all) {
  if (broken.fault.kind != fault::kFake && broken.fault.about != "test_faketensor") return nullptr;
  if (const BrokenCase* same = all.at_call_of(broken, {fault::kAlias})) return same;
  // Where the sample as it is shows both, another layout may show the strides of the alias only.
  return all.at_undamaged_sample_of(broken, {fault::kFake}) == nullptr
             ? nullptr
             : all.at_undamaged_sample_of(broken, {fault::kAlias});
}

// Where the result itself has the wrong shape, the fake kernel is right to say another.
const BrokenCase* fake_of_wrong_result(const BrokenCase& broken, const Symptoms& all) {
  if (broken.fault.kind != fault::kFake) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.differs == "metadata" && group_of_check(each.check) == "value" &&
           each.sample == broken.sample && each.dtype == broken.dtype && each.variant == broken.variant;
  });
}

// What traces an operator with fake tensors goes on with the results of its fake kernel.
const BrokenCase* traced_by_fake(const BrokenCase& broken, const Symptoms& all) {
  constexpr std::array<std::string_view, 4> kTracing{"export", "compile", "aoti", "onnx"};
  const bool of_opcheck = broken.check == "opcheck" && (broken.fault.about == "test_faketensor" ||
                                                        broken.fault.about == "test_aot_dispatch_dynamic");
  const bool traces = broken.check == "fake.symbolic" ||
                      std::ranges::find(kTracing, group_of_check(broken.check)) != kTracing.end();
  if (!of_opcheck && (!traces || broken.differs_in_values())) return nullptr;
  if (const BrokenCase* same = all.at_call_of(broken, {fault::kFake})) return same;
  if (const BrokenCase* as_it_is = all.at_undamaged_samples({fault::kFake, "fake.symbolic"})) return as_it_is;
  // A package asserts the strides that the fake kernel gave, and it holds calls of other layouts, too.
  return group_of_check(broken.check) == "aoti" ? all.with({fault::kFake}) : nullptr;
}

// opcheck's test of the schema sees an alias or a write that is not declared, and AOTAutograd refuses a
// schema that cannot be functionalized.
const BrokenCase* schema_in_opcheck(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "opcheck") return nullptr;
  if (broken.fault.about == "test_schema")
    return all.with({fault::kAlias, fault::kMutation, fault::kMutationWithGradients});
  return broken.fault.about == "test_aot_dispatch_dynamic" ? all.with({"registration.schema"}) : nullptr;
}

// In one storage, a write to the one argument is seen in the other.
const BrokenCase* write_to_the_other_argument(const BrokenCase& broken, const Symptoms& all) {
  const bool is_write =
      broken.fault.kind == fault::kMutation || broken.fault.kind == fault::kMutationWithGradients;
  if (!is_write || broken.variant.find('+') == std::string::npos) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == broken.fault.kind && each.fault.about != broken.fault.about &&
           is_undamaged(each.variant) && broken.variant.find(each.fault.about) != std::string::npos;
  });
}

const BrokenCase* autograd_in_opcheck(const BrokenCase& broken, const Symptoms& all) {
  if (broken.check != "opcheck" || broken.fault.about != "test_autograd_registration") return nullptr;
  return all.with({"registration.kernels"});
}

// A mode that passes the Autograd key by finds no kernel.
const BrokenCase* mode_without_kernel(const BrokenCase& broken, const Symptoms& all) {
  return broken.check == "run.modes" && !broken.differs_in_values() ? all.with({"registration.kernels"})
                                                                    : nullptr;
}

// PyTorch refuses to write to a tensor that overlaps itself: such layouts fail because the argument is
// written. Windows that overlap in part are not refused, and what is written to one is seen in the next.
const BrokenCase* layout_of_a_written_argument(const BrokenCase& broken, const Symptoms& all) {
  const Arrangement mine = arrangement_of(broken.variant);
  const bool may_differ = mine.layout == "windows";
  if (broken.fault.kind != fault::kLayout || (broken.differs_in_values() && !may_differ)) return nullptr;
  return all.find([&](const BrokenCase& each) {
    return each.fault.kind == fault::kMutation &&
           (each.fault.about == mine.arguments || mine.arguments == "all");
  });
}

constexpr std::array kToRegistration{
    Attribution{&fake_of_an_alias},
    Attribution{&fake_of_wrong_result},
    Attribution{&traced_by_fake},
    Attribution{&schema_in_opcheck},
    Attribution{&write_to_the_other_argument},
    Attribution{&autograd_in_opcheck},
    Attribution{&mode_without_kernel},
    Attribution{&layout_of_a_written_argument},
};

}  // namespace

std::span<const Attribution> attributions_to_registration() { return kToRegistration; }

}  // namespace opgate
