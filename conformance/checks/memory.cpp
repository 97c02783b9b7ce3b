#include "checks/memory.h"

#include <fmt/format.h>

#include "checks/outputs.h"

namespace opgate {
namespace {

// The argument or output that a block is, in the reader's words.
std::string owner_of(const Block& block, const Arguments& arguments) {
  for (const TensorInput& input : arguments.tensors) {
    if (input.tensor.storage().data() == block.data) return fmt::format("`{}`", input.name);
  }
  return fmt::format("a block of {} bytes that the operator allocated", block.bytes);
}

// One poison in all but this kind of memory.
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
  return judge_values(got.values(), want.values(), {.unspecified = spec.unspecified}).finding;
}

}  // namespace

Finding describe_damage(const Damage& damage, const Arguments& arguments) {
  const std::string owner = owner_of(damage.block, arguments);
  switch (damage.kind) {
    case Damage::Kind::before:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes before the begin of {} were written, the first {} bytes before it",
                          damage.bytes, owner, -damage.offset),
              "an index below 0, or one that wraps around",
              {}};
    case Damage::Kind::after:
      return {"no byte outside an argument or output is written",
              fmt::format("{} bytes past the end of {} were written, the first at byte {} past it",
                          damage.bytes, owner, damage.offset),
              "a loop runs over the end: its remainder, a whole vector or tile, or a size of another tensor",
              {}};
    case Damage::Kind::freed:
      break;
  }
  return {"memory that was given back is not touched",
          fmt::format("{} bytes of {} were written after it was freed, the first at byte {}", damage.bytes,
                      owner, damage.offset),
          "a pointer into a temporary tensor outlives it",
          {}};
}

Judgement judge_poison(Evidence& evidence, PoisonedMemory kind, const std::string& promised) {
  const Spec& spec = *evidence.key().spec;
  const Outcome& first = evidence.observed().outcome;
  const Outcome& second = evidence.repoisoned().outcome;
  if (first.ok() && second.ok() && !difference(second, first, spec)) return Judgement::pass();
  if (!first.ok() && !second.ok())
    return Judgement::pass();  // refused alike: no result to depend on anything
  const Making unseen{.photographed = false};
  const Outcome same = observe(evidence.key(), evidence.bench().values, unseen).outcome;
  if (same.ok() != first.ok() || (same.ok() && difference(same, first, spec)))
    return Judgement::pass();  // other bits without any change: run.deterministic's matter
  const Outcome other =
      observe(evidence.key(), evidence.bench().values, unseen, second_poison_in(kind)).outcome;
  if (other.ok() != first.ok()) {
    return Judgement::fail(
        {promised,
         fmt::format("with other bytes in that memory the call {}",
                     other.ok() ? "succeeds, where it raised before" : "raises: " + other.raised->message),
         "",
         {}});
  }
  if (!other.ok()) return Judgement::pass();
  auto finding = difference(other, first, spec);
  if (!finding) return Judgement::pass();
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
                              : "memory of at::empty is read, or returned, before anything wrote it",
                          finding->detail});
}

}  // namespace opgate
