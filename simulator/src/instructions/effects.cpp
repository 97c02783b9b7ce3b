#include "instructions/effects.h"

namespace opgate::simulator {

Effect no_effect(const Modifiers&) { return {}; }

Scope scope_of(const Modifiers& words) {
  return words.has("cta") ? Scope::block : words.has("cluster") ? Scope::cluster : Scope::device;
}

Effect effect_of_access(const Modifiers& given, Effect::Kind kind) {
  Modifiers words = given;
  Effect effect;
  effect.kind = kind;
  const bool both = words.has("acq_rel") || words.has("sc");
  effect.scope = scope_of(words);
  effect.is_volatile = words.has("volatile");
  effect.bypasses_caches = words.has("cv") || words.has("wt");
  effect.acquires = both || words.has("acquire");
  effect.releases = both || words.has("release");
  effect.is_swap = kind == Effect::Kind::atomic && words.has("cas");
  effect.is_strong = effect.is_atomic() || effect.is_volatile || effect.acquires || effect.releases ||
                     words.has("relaxed") || words.has("mmio");
  effect.makes_visible = kind != Effect::Kind::load && effect.releases && effect.scope != Scope::block;
  effect.space = words.take_space();
  const int lanes = words.take_lanes();
  effect.type = words.take_type();
  effect.lanes = static_cast<std::uint8_t>(lanes);
  effect.bytes = static_cast<std::uint8_t>(static_cast<std::size_t>(lanes) * bytes_of(effect.type));
  const bool writes_only = kind == Effect::Kind::store || kind == Effect::Kind::reduction;
  effect.operand = static_cast<std::uint8_t>(writes_only ? 0 : lanes);
  return effect;
}

}  // namespace opgate::simulator
