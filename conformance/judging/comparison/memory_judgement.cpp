#include "judging/comparison/memory_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/elements.h"
#include "inputs/bad_inputs.h"
#include "inputs/variant_text.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// The first poison, with the bytes of another one in this kind of memory only.
Poison poison_in(PoisonedMemory kind, const Poison& other) {
  Poison poison = kFirstPoison;
  if (kind == PoisonedMemory::outside) {
    poison.gap = other.gap;
    poison.zone = other.zone;
  } else {
    poison.fresh = other.fresh;
    poison.freed = other.freed;
  }
  return poison;
}

// The third call is made where it may show more than the second one: for sizes as they are or of 0, because
// an operator allocates the same for each layout; and in a layout with a gap after each row, for what is read
// there.
bool asks_for_nan(const CallKey& key) {
  if (is_bad_input(key.variant)) return false;
  return !is_rearranged(key.variant) || arrangement_of(key.variant).layout == "row-sliced";
}

std::optional<Finding> difference(const Outcome& got, const Outcome& want, const Spec& spec) {
  return judge_values(got.values(), want.values(), {.unspecified = got.tensors_of(spec.unspecified)}).finding;
}

// Whether each result that depends on the poison is a tensor that the operator has allocated and not written
// to, as at::empty_like returns it: that may be meant.
bool only_untouched_results_differ(CallUnderTest& under_test, const Poison& poison) {
  const std::vector<at::Tensor> one = under_test.observed().outcome.values();
  const std::vector<at::Tensor> other = under_test.repoisoned(poison).outcome.values();
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    if (judge_values({one[i]}, {other[i]}, {}).finding && !is_untouched(one[i])) return false;
  }
  return true;
}

// Whether calls with the same bytes in memory differ, as sums by atomic additions do on a GPU. One repetition
// may agree by chance, so there are several; only a call that is about to be accused needs them.
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
  const Fault fault{fault::kWritesOutside, ""};
  const std::string owner = owner_of(damage.block, arguments);
  switch (damage.kind) {
    case Damage::Kind::before:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes before the beginning of {} were written, the first {} bytes before it",
                          damage.bytes, owner, -damage.offset),
              "an index is below 0, or wraps around", fault};
    case Damage::Kind::after:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes past the end of {} were written, the first at byte {} past it",
                          damage.bytes, owner, damage.offset),
              "a loop runs past the end: in its remainder, by a whole vector or tile, or because it uses the "
              "size of another tensor",
              fault};
    case Damage::Kind::freed:
      break;
  }
  return {"memory that was given back is not touched",
          fmt::format("{} bytes of {} were written after it was freed, the first at byte {}", damage.bytes,
                      owner, damage.offset),
          "a pointer into a temporary tensor outlives it", fault};
}

// Compares the calls under the first poison and under `poison`.
Judgement judge_other_poison(CallUnderTest& under_test, PoisonedMemory kind, const Poison& poison,
                             const std::string& promised) {
  const Spec& spec = *under_test.key().spec;
  const Outcome& first = under_test.observed().outcome;
  const Outcome& second = under_test.repoisoned(poison).outcome;
  if (first.ok() && second.ok() && !difference(second, first, spec)) return Judgement::pass();
  if (!first.ok() && !second.ok()) return Judgement::pass();  // both calls are refused, so there is no result
  const MaterializeOptions unseen{.take_snapshots = false};
  const Fault fault{
      std::string(kind == PoisonedMemory::outside ? fault::kReadsOutside : fault::kUninitialised), ""};
  const Outcome same = observe(under_test.key(), under_test.cache().values, unseen).outcome;
  if (same.ok() != first.ok() || (same.ok() && difference(same, first, spec)))
    return Judgement::pass();  // the bits differ without any change, which run.deterministic judges
  const Poison only_here = poison_in(kind, poison);
  const Outcome other = observe(under_test.key(), under_test.cache().values, unseen, only_here).outcome;
  if (other.ok() != first.ok()) {
    return Judgement::fail(
        {promised,
         fmt::format("with other bytes in that memory the call {}",
                     other.ok() ? "succeeds, where it raised before" : "raises: " + other.raised->message),
         "", fault});
  }
  if (!other.ok()) return Judgement::pass();
  auto finding = difference(other, first, spec);
  if (!finding) return Judgement::pass();
  if (changes_by_itself(under_test, first, other, only_here)) return Judgement::pass();
  if (kind == PoisonedMemory::fresh && spec.draft && only_untouched_results_differ(under_test, poison)) {
    return Judgement::note(
        "a result is memory that the operator has allocated and not written to; if that is intended, its "
        "spec says so with unspecified");
  }
  const std::string_view where = kind == PoisonedMemory::outside
                                     ? "in the gaps of the arguments and around every block"
                                     : "in freshly allocated and freed memory";
  const std::byte one = kind == PoisonedMemory::outside ? kFirstPoison.zone : kFirstPoison.fresh;
  const std::byte two = kind == PoisonedMemory::outside ? poison.zone : poison.fresh;
  return Judgement::fail({promised,
                          fmt::format("with {:#04x} instead of {:#04x} {}: {}", std::to_integer<int>(two),
                                      std::to_integer<int>(one), where, finding->happened),
                          kind == PoisonedMemory::outside
                              ? "an element outside the bounds is read and used"
                              : "memory from at::empty is read, or returned, before it is written",
                          fault, finding->detail});
}

Judgement judge_poison(CallUnderTest& under_test, PoisonedMemory kind, const std::string& promised) {
  Judgement judgement = judge_other_poison(under_test, kind, kSecondPoison, promised);
  if (judgement.verdict != Verdict::pass || !asks_for_nan(under_test.key())) return judgement;
  return judge_other_poison(under_test, kind, kNanPoison, promised);
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
