#include "watch/annotations.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "instructions/catalogue.h"
#include "instructions/moves_of_sums.h"
#include "instructions/selectors.h"
#include "instructions/wgmma.h"
#include "ptx/modifiers.h"
#include "ptx/opcode.h"
#include "ptx/program.h"

namespace opgate::simulator {
namespace annotations {

using Kind = Annotation::Kind;

Scope scope_of(const Modifiers& modifiers) {
  return modifiers.has("cta") ? Scope::block : modifiers.has("cluster") ? Scope::cluster : Scope::device;
}

Annotation of_access(Modifiers& modifiers, Kind kind) {
  Annotation annotation;
  annotation.kind = kind;
  const bool is_atomic = kind == Kind::atomic || kind == Kind::reduction;
  const bool both = modifiers.has("acq_rel") || modifiers.has("sc");
  annotation.scope = scope_of(modifiers);
  annotation.is_volatile = modifiers.has("volatile");
  annotation.acquires = both || modifiers.has("acquire");
  annotation.releases = both || modifiers.has("release");
  annotation.is_swap = kind == Kind::atomic && modifiers.has("cas");
  annotation.is_strong = is_atomic || annotation.is_volatile || annotation.acquires || annotation.releases ||
                         modifiers.has("relaxed") || modifiers.has("mmio");
  annotation.space = modifiers.take_space();
  const int lanes = modifiers.take_lanes();
  annotation.lanes = static_cast<std::uint8_t>(lanes);
  annotation.bytes =
      static_cast<std::uint8_t>(static_cast<std::size_t>(lanes) * bytes_of(modifiers.take_type()));
  const bool writes_only = kind == Kind::store || kind == Kind::reduction;
  annotation.operand = static_cast<std::uint8_t>(writes_only ? 0 : lanes);
  return annotation;
}

Annotation of_fence(const Modifiers& modifiers) {
  Annotation annotation;
  if (modifiers.has("proxy")) {
    if (modifiers.has("async") && !modifiers.has("global")) annotation.kind = Kind::proxy_fence;
    return annotation;
  }
  annotation.kind = Kind::fence;
  annotation.scope = scope_of(modifiers);
  annotation.acquires = !modifiers.has("release");
  annotation.releases = !modifiers.has("acquire");
  return annotation;
}

Annotation of_barrier(const Modifiers& modifiers) {
  Annotation annotation;
  if (modifiers.has("cluster")) {
    annotation.kind = modifiers.has("arrive") ? Kind::cluster_arrive : Kind::cluster_wait;
    annotation.releases = !modifiers.has("relaxed");
    return annotation;
  }
  annotation.kind = modifiers.has("warp")     ? Kind::warp_barrier
                    : modifiers.has("arrive") ? Kind::arrive
                                              : Kind::barrier;
  annotation.is_aligned = modifiers.name() == "bar" || modifiers.has("aligned");
  return annotation;
}

Annotation of_matrix(Modifiers& modifiers, Kind kind) {
  Annotation annotation;
  annotation.kind = kind;
  const auto count = static_cast<unsigned>(1 << modifiers.take_one({"x1", "x2", "x4"}).value_or(0));
  annotation.rows = static_cast<std::uint8_t>(8 * count);
  annotation.space = modifiers.take_space();
  annotation.bytes = 16;
  annotation.lanes = 0;
  annotation.operand = static_cast<std::uint8_t>(kind == Kind::load ? count : 0);
  return annotation;
}

Annotation of_fragment(Modifiers& modifiers) {
  Annotation annotation;
  if (!modifiers.has("load") && !modifiers.has("store")) return annotation;
  annotation.kind = modifiers.has("load") ? Kind::load : Kind::store;
  annotation.space = modifiers.take_space();
  annotation.lanes = 0;
  annotation.is_fragment = true;
  return annotation;
}

Annotation of_product(const Modifiers& modifiers) {
  if (modifiers.has("mma_async"))
    return {.kind = Kind::product, .space = Space::shared, .bytes = 16, .lanes = 0};
  if (modifiers.has("fence")) return {.kind = Kind::product_fence};
  return {.kind = modifiers.has("commit_group") ? Kind::product_commit : Kind::product_wait};
}

Annotation of_copy(const Modifiers& modifiers) {
  if (modifiers.has("commit_group") || modifiers.has("prefetch")) return {};
  if (modifiers.has("wait_group") || modifiers.has("wait_all")) return {.kind = Kind::copy_wait};
  if (!modifiers.has("bulk")) return {.kind = Kind::copy};
  if (modifiers.has("multicast::cluster")) return {.kind = Kind::unknown};
  const bool is_store = modifiers.has("bulk_group");
  Annotation annotation;
  annotation.kind = modifiers.has("tensor") ? (is_store ? Kind::tensor_store : Kind::tensor_load)
                                            : (is_store ? Kind::bulk_store : Kind::bulk_load);
  annotation.space = modifiers.has("global") && !is_store ? Space::global : Space::shared;
  annotation.is_strong = modifiers.has("reduce");
  return annotation;
}

// Objects of `mbarrier` are those of the block's own shared memory.
Annotation of_mbarrier(Modifiers& modifiers) {
  Annotation annotation;
  if (modifiers.has("pending_count")) return annotation;
  annotation.space = modifiers.take_space();
  annotation.bytes = sizeof(std::uint64_t);
  annotation.lanes = 0;
  annotation.kind = Kind::store;
  if (modifiers.has("init") || modifiers.has("inval")) return annotation;
  annotation.scope = Scope::block;
  annotation.is_strong = true;
  const bool is_relaxed = modifiers.has("relaxed");
  if (modifiers.name() == "cp") {
    annotation.kind = Kind::promise;
  } else if (modifiers.has("test_wait") || modifiers.has("try_wait")) {
    annotation.kind = Kind::mbarrier_look;
    annotation.operand = 1;
    annotation.acquires = !is_relaxed;
  } else {
    annotation.kind = Kind::mbarrier;
    const bool arrives = modifiers.has("arrive") || modifiers.has("arrive_drop");
    annotation.operand = arrives ? 1 : 0;
    annotation.releases = arrives && !is_relaxed;
  }
  return annotation;
}

Annotation annotation_of(const Instruction& instruction, const OperandForm& form) {
  if (instruction.execute == &execute_call) return {.kind = Kind::call};
  if (is_host_call(instruction.execute)) return {.kind = Kind::host_call};
  // Only operands in brackets are numbered.
  const Annotation otherwise{.kind = instruction.site != 0 ? Kind::unknown : Kind::none};
  if (form.opcode == nullptr) return otherwise;
  Modifiers modifiers(*instruction.text);
  switch (form.opcode->effect) {
    case Effect::load:
      return of_access(modifiers, Kind::load);
    case Effect::store:
      return modifiers.has("async") ? otherwise : of_access(modifiers, Kind::store);
    case Effect::atomic:
      return of_access(modifiers, Kind::atomic);
    case Effect::reduction:
      return modifiers.has("async") ? otherwise : of_access(modifiers, Kind::reduction);
    case Effect::fence:
      return of_fence(modifiers);
    case Effect::barrier:
      return of_barrier(modifiers);
    case Effect::grid_dependency:
      return {.kind = modifiers.has("wait") ? Kind::grid_wait : Kind::grid_trigger};
    case Effect::load_matrix:
      return of_matrix(modifiers, Kind::load);
    case Effect::store_matrix:
      return of_matrix(modifiers, Kind::store);
    case Effect::fragment:
      return of_fragment(modifiers);
    case Effect::mbarrier:
      return of_mbarrier(modifiers);
    case Effect::product:
      return of_product(modifiers);
    case Effect::copy:
      return modifiers.has("mbarrier") ? of_mbarrier(modifiers) : of_copy(modifiers);
    case Effect::leave_function:
    case Effect::leave_kernel:
      return {.kind = Kind::leave};
    case Effect::tensor_map:
    case Effect::image:
      return {};
    case Effect::branch:
    case Effect::remote_address:
    case Effect::none:
      break;
  }
  return otherwise;
}

// Releases beyond the block; and what accesses memory by another proxy, or for the host, as if a fence lay
// before it.
bool makes_visible(const Instruction& instruction, const OperandForm& form, const Annotation& annotation) {
  if (annotation.kind == Kind::host_call) return true;
  if (form.opcode == nullptr) return false;
  const Modifiers modifiers(*instruction.text);
  switch (form.opcode->effect) {
    case Effect::store:
    case Effect::atomic:
    case Effect::reduction:
      return modifiers.has("async") || (annotation.releases && annotation.scope != Scope::block);
    case Effect::fence:
      return modifiers.has("proxy") || (annotation.releases && annotation.scope != Scope::block);
    case Effect::barrier:
      return annotation.kind == Kind::cluster_arrive && annotation.releases;
    case Effect::mbarrier:
      return modifiers.has("cluster") || modifiers.has("shared::cluster");
    case Effect::copy:
      return modifiers.has("bulk");
    case Effect::grid_dependency:
    case Effect::tensor_map:
      return true;
    default:
      return false;
  }
}

// As the interpreter decides it when it decodes the instruction.
void settle_parameter_space(Annotation& annotation, const OperandForm& form, bool in_kernel) {
  if (annotation.space != Space::parameter) return;
  if (form.names_local || !in_kernel) {
    annotation.space = Space::local;
  } else {
    annotation.kind = Kind::none;
  }
}

// An address as an instruction names it, how many bytes, and the register that the load fills.
using Guess = std::tuple<Slot, std::int64_t, unsigned, Slot>;

Guess guess_of(const Instruction& instruction, const Annotation& annotation, Slot value) {
  return {instruction.slot(annotation.operand), instruction.immediate, annotation.bytes, value};
}

// The loads whose value an `atom.cas` of the same place compares with, directly or after moves: the first
// guess of a loop, as the programming guide shows it, and as CUDA's own headers have it. A stale value costs
// one more turn.
std::set<Guess> guesses_of(const Function& function) {
  std::set<Guess> guesses;
  for (std::size_t at = 0; at < function.code.size(); ++at) {
    const Instruction& cas = function.code[at];
    const Opcode* const opcode = function.forms[at].opcode;
    if (opcode == nullptr || opcode->effect != Effect::atomic || !Modifiers(*cas.text).has("cas")) continue;
    const Annotation annotation = annotation_of(cas, function.forms[at]);
    constexpr std::size_t kCompared = 2;
    std::set<Slot> values{cas.slot(kCompared)};
    for (std::size_t before = 0; before != values.size();) {
      before = values.size();
      for (const Instruction& move : function.code) {
        if (move.text->starts_with("mov.") && values.contains(move.slot(0))) values.insert(move.slot(1));
      }
    }
    for (const Slot value : values) guesses.insert(guess_of(cas, annotation, value));
  }
  return guesses;
}

bool changes_memory(const OperandForm& form) {
  return form.opcode != nullptr &&
         (form.opcode->effect == Effect::store || form.opcode->effect == Effect::atomic ||
          form.opcode->effect == Effect::reduction);
}

bool writes(const Instruction& instruction, const OperandForm& form, Slot slot) {
  return form.opcode != nullptr && form.total > 0 && instruction.slot(0) == slot &&
         form.opcode->has_result(Modifiers(*instruction.text));
}

// The loads, by their index, that are repeated until somebody else changes the value: those in a loop that
// neither writes memory nor changes their address.
std::set<std::size_t> loads_that_wait(const Function& function) {
  std::set<std::size_t> loads;
  for (std::size_t end = 0; end < function.code.size(); ++end) {
    const Opcode* const opcode = function.forms[end].opcode;
    if (opcode == nullptr || opcode->effect != Effect::branch) continue;
    const auto begin = static_cast<std::size_t>(function.code[end].immediate);
    if (begin > end) continue;
    const auto any = [&](const auto& holds) {
      for (std::size_t at = begin; at < end; ++at) {
        if (holds(function.code[at], function.forms[at])) return true;
      }
      return false;
    };
    if (any([](const Instruction&, const OperandForm& form) { return changes_memory(form); })) continue;
    for (std::size_t at = begin; at < end; ++at) {
      const Annotation load = annotation_of(function.code[at], function.forms[at]);
      if (load.kind != Kind::load || !load.is_volatile) continue;
      const Slot address = function.code[at].slot(load.operand);
      if (!any([&](const Instruction& in, const OperandForm& form) { return writes(in, form, address); }))
        loads.insert(at);
    }
  }
  return loads;
}

bool names_any(const Instruction& instruction, std::size_t operands, const std::set<Slot>& slots) {
  for (std::size_t i = 0; i < operands; ++i) {
    if (slots.contains(instruction.slot(i))) return true;
  }
  return false;
}

bool may_depend_on_order(const Annotation& annotation) {
  return annotation.is_strong || annotation.kind == Kind::host_call || annotation.kind == Kind::grid_wait ||
         annotation.kind == Kind::grid_trigger || annotation.kind == Kind::unknown;
}

void annotate_registers(Annotation& annotation, const Instruction& instruction, const OperandForm& form,
                        const std::set<Slot>& of_products, const std::set<Slot>& moved_to_products) {
  if (of_products.empty() || begins_product(instruction, form)) return;
  const bool has_result = form.opcode != nullptr && form.opcode->has_result(Modifiers(*instruction.text));
  annotation.results = has_result ? form.first : 0;
  annotation.only_moves = instruction.guard < 0 && only_moves(instruction, form);
  annotation.names_product_register = names_any(instruction, form.total, of_products) ||
                                      names_any(instruction, annotation.results, moved_to_products);
}

}  // namespace annotations

bool may_depend_on_order(const Program& program, const std::vector<Annotation>& all) {
  const auto reads_clock = [](const auto& function) {
    return std::ranges::any_of(function->code,
                               [](const Instruction& in) { return in.execute == instruction_set().clock; });
  };
  return std::ranges::any_of(all,
                             [](const Annotation& how) { return annotations::may_depend_on_order(how); }) ||
         std::ranges::any_of(program.functions, reads_clock);
}

std::vector<Annotation> annotate(Program& program) {
  std::vector<Annotation> all;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = *program.functions[i];
    const std::set<annotations::Guess> guesses = annotations::guesses_of(function);
    const std::set<std::size_t> waiting = annotations::loads_that_wait(function);
    const std::set<Slot> of_products = registers_of_products(function);
    const std::set<Slot> moved_to_products = sources_of_products(function);
    for (std::size_t at = 0; at < function.code.size(); ++at) {
      const Instruction& instruction = function.code[at];
      Annotation annotation = annotations::annotation_of(instruction, function.forms[at]);
      annotation.makes_visible = annotations::makes_visible(instruction, function.forms[at], annotation);
      annotations::settle_parameter_space(annotation, function.forms[at], i == 0);
      annotations::annotate_registers(annotation, instruction, function.forms[at], of_products,
                                      moved_to_products);
      annotation.is_guess =
          annotation.kind == Annotation::Kind::load &&
          guesses.contains(annotations::guess_of(instruction, annotation, instruction.slot(0)));
      if (waiting.contains(at)) annotation.is_volatile = false;
      annotation.number(function.first_number + static_cast<std::uint32_t>(at));
      all.push_back(annotation);
    }
  }
  // Only now do the annotations stay where they are.
  for (const auto& function : program.functions) {
    for (std::size_t at = 0; at < function->code.size(); ++at) {
      const Annotation& annotation = all[function->first_number - 1 + at];
      if (annotation.kind != Annotation::Kind::none || annotation.names_product_register ||
          annotation.makes_visible)
        function->code[at].annotation = &annotation;
    }
  }
  return all;
}

}  // namespace opgate::simulator
