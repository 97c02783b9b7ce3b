#include "judging/memory_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/elements.h"
#include "judging/fault.h"
#include "judging/output_judgement.h"

namespace opgate {
namespace {

// The first poison, with the bytes of the second one in this kind of memory only.
Poison second_poison_in(PoisonedMemory kind) {
  Poison poison = kFirstPoison;
  if (kind == PoisonedMemory::outside) {
    poison.gap = kSecondPoison.gap;
    poison.zone = kSecondPoison.zone;
  } else {
    poison.fresh = kSecondPoison.fresh;
    poison.freed = kSecondPoison.freed;
  }
  return poison;
}

std::optional<Finding> difference(const Outcome& got, const Outcome& want, const Spec& spec) {
  return judge_values(got.values(), want.values(), {.unspecified = got.tensors_of(spec.unspecified)}).finding;
}

// Whether each result that depends on the poison is a tensor that the operator has allocated and not written to, as
// at::empty_like returns it: that may be meant.
bool only_untouched_results_differ(CallUnderTest& under_test) {
  const std::vector<at::Tensor> one = under_test.observed().outcome.values();
  const std::vector<at::Tensor> other = under_test.repoisoned().outcome.values();
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (judge_values({one[i]}, {other[i]}, {}).finding && !is_untouched(one[i])) return false;
  }
  return true;
}

// Whether calls with the same bytes in memory differ, as sums by atomic additions do on a GPU. One repetition may agree by
// chance, so there are several; only a call that is about to be accused needs them.
bool changes_by_itself(CallUnderTest& under_test, const Outcome& first, const Outcome& other,
                       const Poison& poison_of_other) {
  constexpr int kRepetitions = 4;
  const Spec& spec = *under_test.key().spec;
  const auto differs = [&](const Outcome& want, const Poison& poison) {
    const Outcome again =
        observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}, poison).outcome;
    return again.ok() != want.ok() || (again.ok() && difference(again, want, spec));
  };
  for (int i = 0; i < kRepetitions; ++i) {
    if (differs(first, kFirstPoison) || differs(other, poison_of_other)) return true;
  }
  return false;
}

}  // namespace

std::string owner_of(const Block& block, const Arguments& arguments) {
  for (const TensorInput& input : arguments.tensors) {
    if (input.tensor.storage().data() == block.data) return fmt::format("`{}`", input.name);
  }
  return fmt::format("a block of {} bytes that the operator allocated", block.bytes);
}

bool is_untouched(const at::Tensor& tensor, std::byte poison) {
  if (!tensor.defined() || tensor.numel() == 0) return false;
  const at::Tensor host = on_host(tensor);
  const auto* const bytes = static_cast<const std::byte*>(host.const_data_ptr());
  return std::all_of(bytes, bytes + host.nbytes(), [&](std::byte byte) { return byte == poison; });
}

Finding describe_damage(const Damage& damage, const Arguments& arguments) {
  const Fault fault{std::string(fault::kWritesOutside), ""};
  const std::string owner = owner_of(damage.block, arguments);
  switch (damage.kind) {
    case Damage::Kind::before:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes before the beginning of {} were written, the first {} bytes before it",
                          damage.bytes, owner, -damage.offset),
              "an index is below 0, or wraps around",
              {},
              fault};
    case Damage::Kind::after:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes past the end of {} were written, the first at byte {} past it",
                          damage.bytes, owner, damage.offset),
              "a loop runs past the end: in its remainder, by a whole vector or tile, or because it uses the "
              "size of another tensor",
              {},
              fault};
    case Damage::Kind::freed:
      break;
  }
  return {"memory that was given back is not touched",
          fmt::format("{} bytes of {} were written after it was freed, the first at byte {}", damage.bytes,
                      owner, damage.offset),
          "a pointer into a temporary tensor outlives it",
          {},
          fault};
}

Judgement judge_poison(CallUnderTest& under_test, PoisonedMemory kind, const std::string& promised) {
  const Spec& spec = *under_test.key().spec;
  const Outcome& first = under_test.observed().outcome;
  const Outcome& second = under_test.repoisoned().outcome;
  if (first.ok() && second.ok() && !difference(second, first, spec)) return Judgement::pass();
  if (!first.ok() && !second.ok()) return Judgement::pass();  // both calls are refused, so there is no result
  const MaterializeOptions unseen{.take_snapshots = false};
  const Fault fault{
      std::string(kind == PoisonedMemory::outside ? fault::kReadsOutside : fault::kUninitialised), ""};
  const Outcome same = observe(under_test.key(), under_test.cache().values, unseen).outcome;
  if (same.ok() != first.ok() || (same.ok() && difference(same, first, spec)))
    return Judgement::pass();  // the bits differ without any change, which run.deterministic judges
  const Outcome other =
      observe(under_test.key(), under_test.cache().values, unseen, second_poison_in(kind)).outcome;
  if (other.ok() != first.ok()) {
    return Judgement::fail(
        {promised,
         fmt::format("with other bytes in that memory the call {}",
                     other.ok() ? "succeeds, where it raised before" : "raises: " + other.raised->message),
         "",
         {},
         fault});
  }
  if (!other.ok()) return Judgement::pass();
  auto finding = difference(other, first, spec);
  if (!finding) return Judgement::pass();
  if (changes_by_itself(under_test, first, other, second_poison_in(kind))) return Judgement::pass();
  if (kind == PoisonedMemory::fresh && spec.draft && only_untouched_results_differ(under_test)) {
    return Judgement::note(
        "a result is memory that the operator has allocated and not written to; if that is intended, its "
        "spec says so with unspecified");
  }
  const std::string_view where = kind == PoisonedMemory::outside
                                     ? "in the gaps of the arguments and around every block"
                                     : "in freshly allocated and freed memory";
  const std::byte one = kind == PoisonedMemory::outside ? kFirstPoison.zone : kFirstPoison.fresh;
  const std::byte two = kind == PoisonedMemory::outside ? kSecondPoison.zone : kSecondPoison.fresh;
  return Judgement::fail({promised,
                          fmt::format("with {:#04x} instead of {:#04x} {}: {}", std::to_integer<int>(two),
                                      std::to_integer<int>(one), where, finding->happened),
                          kind == PoisonedMemory::outside
                              ? "an element outside the bounds is read and used"
                              : "memory from at::empty is read, or returned, before it is written",
                          finding->detail, fault});
}

std::optional<std::string> change_with_fresh(CallUnderTest& under_test, std::byte byte) {
  Poison poison = kFirstPoison;
  poison.fresh = poison.freed = byte;
  const Outcome& first = under_test.observed().outcome;
  const Outcome other =
      observe(under_test.key(), under_test.cache().values, {.take_snapshots = false}, poison).outcome;
  if (!first.ok() || !other.ok()) return std::nullopt;
  const auto finding = difference(other, first, *under_test.key().spec);
  if (!finding || changes_by_itself(under_test, first, other, poison)) return std::nullopt;
  return fmt::format("with {:#04x} in memory that is fresh: {}", std::to_integer<int>(byte),
                     finding->happened);
}

}  // namespace opgate
