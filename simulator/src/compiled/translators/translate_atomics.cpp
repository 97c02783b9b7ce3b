// Atomic accesses: those of integers, and sums of floating-point numbers.
#include <array>
#include <optional>

#include "compiled/places.h"
#include "compiled/translators/translators.h"
#include "instructions/selectors.h"
#include "numbers/atomic_operations.h"

namespace opgate::simulator {
namespace translated_atomics {

// The function of C that does it in one access, and gives what was there before; null if there is none.
const char* in_one_access(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::conjunction:
      return "__atomic_fetch_and";
    case AtomicOperation::disjunction:
      return "__atomic_fetch_or";
    case AtomicOperation::exclusive:
      return "__atomic_fetch_xor";
    case AtomicOperation::add:
      return "__atomic_fetch_add";
    default:
      return nullptr;
  }
}

// While several threads of the host run the launch, `old` and what becomes of it must be one access.
void change_at_once(Emitter& out, const std::string& name, AtomicOperation operation,
                    const std::string& combined) {
  out.line("  if (UNLIKELY(c->is_spread)) {");
  if (const char* const function = in_one_access(operation); function != nullptr) {
    out.line("  old = " + std::string(function) + "((" + name + "*)place, value, __ATOMIC_RELAXED);");
  } else {
    out.line("  while (!__atomic_compare_exchange_n((" + name + "*)place, &old, " + combined +
             ", 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}");
  }
  out.line("  } else");
}

// What becomes of a place that holds `old`, as combined_integer() has it.
std::string combined_in_c(AtomicOperation operation) {
  static constexpr std::array<const char*, 9> kResults{
      "old & value",
      "old | value",
      "old ^ value",
      "value",
      "(u64)old + (u64)value",
      "old >= value ? 0 : (u64)old + 1",
      "old == 0 || old > value ? value : (u64)old - 1",
      "value < old ? value : old",
      "value > old ? value : old",
  };
  return kResults[static_cast<std::size_t>(operation)];
}

// The bits of the sum of the bits `old` and `value`, as combined() has it; empty if it is not translated.
std::string sum_in_c(Type type, bool is_shared) {
  const std::string function = is_shared ? "sum_in_shared_f" : "sum_in_global_f";
  const auto half = [](const std::string& format, const std::string& shift) {
    return format + "_of_f32(f32_of_" + format + "(old" + shift + ") + f32_of_" + format + "(value" + shift +
           "))";
  };
  switch (type) {
    case Type::f32:
      return "bits_of_f32(" + function + "32(f32_of(old), f32_of(value)))";
    case Type::f64:
      return "bits_of_f64(" + function + "64(f64_of(old), f64_of(value)))";
    case Type::f16:
      return half("half", "");
    case Type::bf16:
      return half("bfloat16", "");
    case Type::f16x2:
      return half("half", " & 0xffff") + " | (u32)" + half("half", " >> 16") + " << 16";
    case Type::bf16x2:
      return half("bfloat16", " & 0xffff") + " | (u32)" + half("bfloat16", " >> 16") + " << 16";
    default:
      return {};
  }
}

bool is_integer_of_words(Type type) {
  return type == Type::b32 || type == Type::b64 || type == Type::u32 || type == Type::u64 ||
         type == Type::s32 || type == Type::s64;
}

}  // namespace translated_atomics

static bool translate_atomic(Emitter& out, Source& source) {
  using namespace places;
  using namespace translated_atomics;
  Modifiers& modifiers = source.modifiers;
  const bool returns = modifiers.name() == "atom";
  const bool swaps = modifiers.take("cas");
  if (modifiers.has("L2::cache_hint") || modifiers.has("async")) return false;
  modifiers.take_hints();
  Place place;
  place.space = modifiers.take_space();
  if (modifiers.take_lanes() != 1) return false;
  const std::optional<AtomicOperation> operation = take_atomic_operation(modifiers);
  const Type type = modifiers.take_type();
  const std::size_t at_address = returns ? 1 : 0;
  const bool is_integer = is_integer_of_words(type);
  const bool adds = operation == AtomicOperation::add;
  const std::string sum = adds && !is_integer ? sum_in_c(type, place.space == Space::shared) : std::string();
  if ((!is_integer && sum.empty()) || swaps == operation.has_value() || !modifiers.none_left() ||
      source.form.total != at_address + (swaps ? 3u : 2u))
    return false;
  place.type = is_integer ? in_memory(type) : of_bits(bytes_of(type));
  place.bytes = bytes_of(type);
  const std::string name = name_in_c(place.type);
  out.line("  { u8* const place = " + located(out, source, place, source.slot(at_address), Access::atomic) +
           ";");
  out.line("  " + name + " old = " + access("load_", place.type) + "place);");
  out.line("  const " + name + " value = " + out.get(source.slot(at_address + 1), place.type) + ";");
  if (swaps) {
    out.line("  if (old == value) " + access("store_", place.type) + "place, " +
             out.get(source.slot(at_address + 2), place.type) + ");");
  } else if (!is_integer) {
    out.line("  " + access("store_", place.type) + "place, " + sum + ");");
  } else {
    const std::string combined = "(" + name + ")(" + combined_in_c(*operation) + ")";
    if (source.form.effect.commutes && place.space != Space::shared)
      change_at_once(out, name, *operation, combined);
    out.line("  " + access("store_", place.type) + "place, " + combined + ");");
  }
  if (returns) out.set(source.slot(0), place.type, "old");
  out.line("  }");
  return true;
}

std::vector<TranslationRow> translations_of_atomics() {
  return {{"atom", &translate_atomic}, {"red", &translate_atomic}};
}

}  // namespace opgate::simulator
