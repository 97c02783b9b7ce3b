#include "ptx/names.h"

#include <algorithm>
#include <utility>

namespace opgate::simulator {
namespace {

Named in_shared(const Declared& declared, std::uint64_t offset) {
  return {.kind = declared.sized ? Named::Kind::shared : Named::Kind::dynamic_shared,
          .value = offset,
          .alignment = declared.alignment};
}

}  // namespace

Names::Names(ProgramBuilder& builder, const DeclaredFunction& declared, std::size_t index, Function& function)
    : builder_(builder), index_(index), function_(function), scopes_(1) {
  for (const Formal& formal : declared.parameters)
    declare_formal(formal, declared.is_kernel, &function.arguments);
  for (const Formal& formal : declared.results) declare_formal(formal, false, &function.results);
}

void Names::declare_formal(const Formal& formal, bool is_kernel, std::vector<Argument>* arguments) {
  const Declared& variable = formal.variable;
  if (is_kernel) {
    const std::uint64_t offset = aligned(parameter_top_, variable.alignment);
    parameter_top_ = offset + variable.bytes;
    add(variable.name, {.kind = Named::Kind::parameter, .value = offset, .bytes = variable.bytes});
    return;
  }
  if (formal.in_register) {
    declare_register(variable);
    for (const Slot element : scopes_.back()[variable.name].elements)
      arguments->push_back({true, element, 0, variable.bytes / variable.lanes});
    if (variable.lanes > 1) return;
    const Slot slot = scopes_.back()[variable.name].slot = fresh();
    arguments->push_back({true, slot, 0, variable.bytes});
    return;
  }
  declare_local(variable);
  arguments->push_back({false, 0, scopes_.back()[variable.name].value, variable.bytes});
}

void Names::open_scope() {
  scopes_.emplace_back();
  local_tops_.push_back(local_top_);
}

void Names::close_scope() {
  scopes_.pop_back();
  local_top_ = local_tops_.back();
  local_tops_.pop_back();
}

Named& Names::add(const std::string& name, Named named) { return scopes_.back()[name] = named; }

// The elements are x, y, z and w, or r, g, b and a.
void Names::declare_vector(const std::string& name, const Declared& declared) {
  Named vector;
  vector.kind = Named::Kind::vector;
  for (std::size_t i = 0; i < declared.lanes; ++i) {
    const Named element{
        .kind = Named::Kind::register_, .slot = fresh(), .bytes = declared.bytes / declared.lanes};
    vector.elements.push_back(element.slot);
    for (const std::string_view letters : {"xyzw", "rgba"}) {
      if (i < letters.size()) add(name + "." + letters[i], element);
    }
  }
  add(name, std::move(vector));
  has_vectors_ = true;
}

void Names::declare_register(const Declared& declared) {
  if (declared.lanes > 1) {
    if (declared.registers == 0) declare_vector(declared.name, declared);
    for (std::size_t i = 0; i < declared.registers; ++i)
      declare_vector(declared.name + std::to_string(i), declared);
    return;
  }
  const Named named{
      .kind = Named::Kind::register_, .bytes = declared.bytes, .is_predicate = declared.type == Type::pred};
  if (declared.registers == 0) add(declared.name, named);
  for (std::size_t i = 0; i < declared.registers; ++i) add(declared.name + std::to_string(i), named);
}

void Names::declare_shared(const Declared& declared) {
  add(declared.name, in_shared(declared, declared.sized ? builder_.place_shared(declared) : 0));
}

void Names::declare_local(const Declared& declared) {
  const std::uint64_t offset = aligned(local_top_, declared.alignment);
  local_top_ = offset + declared.bytes;
  function_.local_bytes = std::max(function_.local_bytes, local_top_);
  add(declared.name, {.kind = Named::Kind::local, .value = offset, .bytes = declared.bytes});
}

void Names::declare_global(const std::string& name, std::string variable) {
  add(name, {.kind = Named::Kind::variable, .variable = std::move(variable)});
}

Named* Names::declared(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name);
    if (found != scope->end()) return &found->second;
  }
  return nullptr;
}

Named& Names::find(const Token& name) {
  const std::string text(name.text);
  if (Named* const known = declared(text)) return *known;
  // Found once, it is a name of the function.
  return scopes_.front()[text] = outside_of_function(name);
}

const std::vector<Slot>* Names::elements_of(const Token& name) {
  const Named* const named = has_vectors_ ? declared(std::string(name.text)) : nullptr;
  return named != nullptr && named->kind == Named::Kind::vector ? &named->elements : nullptr;
}

Named Names::outside_of_function(const Token& name) {
  if (const Named special = special_register(name.text); special.kind != Named::Kind::unknown) return special;
  const std::string text(name.text);
  const Declarations& module = builder_.declarations();
  if (const auto shared = module.shared.find(text); shared != module.shared.end()) {
    const Declared& declared = shared->second;
    return in_shared(declared, declared.sized ? builder_.place_shared_of_module(declared) : 0);
  }
  if (module.variable(text) != nullptr) return {.kind = Named::Kind::variable, .variable = text};
  if (builder_.function_index(text) >= 0)
    return {.kind = Named::Kind::constant, .value = builder_.function_address(text)};
  throw ParseError(name.line, "`" + text + "` is not declared");
}

Slot Names::slot_of(Named& named, const Token& name, std::uint64_t addend) {
  switch (named.kind) {
    case Named::Kind::register_:
      if (addend != 0)
        throw ParseError(name.line, "a sum with the register `" + std::string(name.text) + "`");
      if (named.slot < 0) named.slot = fresh();
      return named.slot;
    case Named::Kind::constant:
    case Named::Kind::parameter:
    case Named::Kind::shared:
      return constant(named.value + addend);
    case Named::Kind::local:
      return frame_value(FrameValue::Kind::local_address, named.value + addend);
    case Named::Kind::frame_value:
      return frame_value(named.frame, named.value);
    case Named::Kind::dynamic_shared: {
      const Slot slot = fresh();
      builder_.add_dynamic_shared_slot(index_, slot, addend, named.alignment);
      return slot;
    }
    case Named::Kind::variable: {
      const auto [known, is_new] = variables_.try_emplace({named.variable, addend}, 0);
      if (is_new) {
        known->second = fresh();
        builder_.add_variable_slot({index_, known->second, named.variable, addend});
      }
      return known->second;
    }
    case Named::Kind::vector:
    case Named::Kind::clock:
    case Named::Kind::unknown:
      break;
  }
  throw ParseError(name.line, "`" + std::string(name.text) + "` cannot be used here");
}

Slot Names::fresh(std::uint64_t initial) {
  function_.initial.push_back(initial);
  return static_cast<Slot>(function_.initial.size() - 1);
}

Slot Names::constant(std::uint64_t value) {
  const auto [known, is_new] = constants_.try_emplace(value, 0);
  if (is_new) known->second = fresh(value);
  return known->second;
}

Slot Names::nowhere() {
  if (nowhere_ < 0) nowhere_ = fresh();
  return nowhere_;
}

Slot Names::frame_value(FrameValue::Kind kind, std::uint64_t value) {
  const auto [known, is_new] = frame_values_.try_emplace({kind, value}, 0);
  if (is_new) {
    known->second = fresh();
    function_.frame_values.push_back({kind, known->second, value});
  }
  return known->second;
}

}  // namespace opgate::simulator
