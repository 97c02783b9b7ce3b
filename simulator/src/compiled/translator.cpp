#include "compiled/translator.h"

#include <algorithm>
#include <unordered_map>

#include "compiled/chunks.h"
#include "compiled/prelude.h"
#include "compiled/translators/translators.h"
#include "instructions/moves_of_sums.h"
#include "instructions/selectors.h"
#include "machine/block.h"
#include "machine/launches/compiled_code.h"

namespace opgate::simulator {
namespace translator {

Translate translator_named(const std::string& name) {
  // Never destroyed: kernels may be compiled while the process ends.
  static const auto* const known = [] {
    auto* const all = new std::unordered_map<std::string_view, Translate>;
    for (const auto group : {&translations_of_integers, &translations_of_floats, &translations_of_bits,
                             &translations_of_comparisons, &translations_of_conversions,
                             &translations_of_moves, &translations_of_atomics}) {
      for (const TranslationRow& row : group()) all->insert(row);
    }
    return all;
  }();
  const auto found = known->find(name);
  return found == known->end() ? nullptr : found->second;
}

class FunctionTranslator {
 public:
  FunctionTranslator(const Program& program, std::size_t index)
      : function_(*program.functions[index]),
        roles_(all_roles()),
        chunks_(chunks_of(function_, roles_)),
        out_(program, index, roles_),
        index_(index),
        begins_copies_(begins_copies(program)) {}

  std::string translate() {
    translate_chunks();
    for (const Roles& roles : roles_) meets_ |= out_.is_kernel() && roles.stops && !roles.ends;
    out_.start_over();
    out_.line("void " + symbol_of(index_) + "(struct context* c, s64 left, u64 at) {");
    out_.line("  u64* R = c->registers; u8* const S = c->shared;");
    out_.line("  const u64 shared_bytes = c->shared_bytes; const u64* const initial = c->initial;");
    out_.line("  (void)R; (void)S; (void)shared_bytes; (void)initial;");
    out_.declare();
    enter_chunks();
    translate_chunks();
    if (out_.is_kernel()) end_thread();
    out_.line("leave:\n  c->left = left;\n}");
    return out_.text();
  }

  bool waits_in_warps() const {
    for (std::size_t i = 0; i < function_.code.size(); ++i) {
      if (roles_[i].stops && is_collective(source_of(i, 0))) return true;
    }
    return false;
  }

  std::vector<Slot> constants() const { return out_.all_constants(); }

  std::vector<bool> begins() const {
    std::vector<bool> begins(function_.code.size() + 1);
    for (const Chunk& chunk : chunks_) begins[chunk.begin] = chunk.is_entry;
    return begins;
  }

 private:
  std::vector<Roles> all_roles() const {
    std::vector<Roles> roles;
    for (std::size_t i = 0; i < function_.code.size(); ++i) roles.push_back(roles_of(function_, i));
    return roles;
  }

  static bool begins_copies(const Program& program) {
    return std::ranges::any_of(program.functions, [](const auto& function) {
      return std::ranges::any_of(function->forms,
                                 [](const OperandForm& form) { return form.effect.begins_copy(); });
    });
  }

  void enter_chunks() {
    if (meets_) {
      out_.line("  if (at == " + std::to_string(kThreadsTogether) + "u) {");
      out_.line("go_on: R = c->registers_of[c->linear_index]; at = c->stops[c->linear_index];");
      out_.line("  left = c->turn; c->thread = 0; c->local_bytes = 0;\n  }");
    }
    out_.line("  switch (at) {");
    if (out_.is_kernel()) {
      out_.line("  case " + std::to_string(kFreshThreads) + "u: begin:");
      out_.line("  left = c->turn;");
      out_.begin_thread(chunks_.front().live);
      out_.line("  goto at_0;");
    }
    for (const Chunk& chunk : chunks_) {
      if (!chunk.is_entry) continue;
      out_.line("  case " + std::to_string(chunk.begin) + ":");
      if (chunk.begin == 0 && !out_.is_kernel()) {
        out_.begin_function(chunk.live);
      } else {
        for (const Slot slot : chunk.live) out_.restore(slot);
      }
      out_.line("  goto at_" + std::to_string(chunk.begin) + ";");
    }
    out_.line("  }\n  __builtin_unreachable();");
  }

  void end_thread() {
    out_.line("exit:");
    // Copies that a thread has not waited for happen at its end, which other threads may see at once.
    if (meets_ && begins_copies_) {
      out_.line("  if (c->together) { c->next = " + std::to_string(kThreadExits) + "u; goto leave; }");
    } else if (meets_) {
      out_.line("  if (c->together) { c->stops[c->linear_index] = " + std::to_string(kThreadExits) +
                "u; goto go_on_with_next; }");
    }
    out_.line("  if (c->registers == 0) {");
    out_.line("  c->budget -= (u64)(c->turn - left);");
    out_.line("  next_thread(c);");
    out_.line("  if (c->linear_index != c->end_index && c->budget >= c->reserve) goto begin;");
    out_.line("  }");
    out_.line("  c->next = " + std::to_string(kThreadExits) + "u; goto leave;");
    if (!meets_) return;
    out_.line("go_on_with_next:\n  c->budget -= (u64)(c->turn - left);");
    out_.line("  if (++c->linear_index != c->end_index) goto go_on;");
  }

  void translate_chunks() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const Chunk& chunk = chunks_[i];
      out_.line("at_" + std::to_string(chunk.begin) + ":");
      if (chunk.is_turn_end && chunk.begin != 0) end_turn(chunk);
      out_.line("  left -= " + std::to_string(chunk.end - chunk.begin) + ";");
      for (std::size_t at = chunk.begin; at < chunk.end; ++at) translate_one(chunk, at);
    }
    // The last instruction of a function ends it.
    out_.line("  __builtin_unreachable();");
  }

  void end_turn(const Chunk& chunk) {
    out_.line("  if (UNLIKELY(left <= 0)) {");
    out_.need_registers();
    for (const Slot slot : chunk.live) out_.save(slot);
    out_.line("  c->next = " + std::to_string(chunk.begin) + "; goto leave; }");
  }

  void translate_one(const Chunk& chunk, std::size_t at) {
    const Instruction& in = function_.code[at];
    const Roles& roles = roles_[at];
    if (in.guard >= 0) {
      const std::string predicate = out_.get(in.guard >> 1, Type::u64);
      out_.line("  if ((" + predicate + " & 1) " + ((in.guard & 1) != 0 ? "== 0" : "!= 0") + ") {");
    }
    Source source = source_of(at, chunk.end - at - 1);
    if (roles.stops) {
      stop(chunk, source);
    } else if (roles.ends) {
      out_.line("  goto at_" + std::to_string(roles.targets.front()) + ";");
    } else if (in.execute != &execute_nothing && !known(source)) {
      out_.hand_over(source);
    }
    if (in.guard >= 0) out_.line("  }");
  }

  Source source_of(std::size_t at, std::size_t behind) const {
    const Instruction& in = function_.code[at];
    return {in, function_.forms[at], roles_[at], Modifiers(*in.text), at, behind};
  }

  bool known(Source& source) {
    const Handler handler = source.in.execute;
    if (handler == &execute_unsupported || handler == &execute_assertion || is_host_call(handler) ||
        handler == &execute_clock || handler == &execute_move_of_sums)
      return false;
    if (handler == &execute_not_predicate) {
      out_.set(source.slot(0), Type::pred, "!" + out_.get(source.slot(1), Type::pred));
      return true;
    }
    const Translate translate = translator_named(source.modifiers.name());
    return translate != nullptr && translate(out_, source);
  }

  // The interpreter executes the instruction and whatever follows from it. All registers must be where it
  // finds them.
  void stop(const Chunk& chunk, const Source& source) {
    if (index_ == 0 && source.roles.ends && source.roles.targets.empty()) {
      out_.line("  goto exit;");
      return;
    }
    out_.need_registers();
    for (const std::size_t next : chunk.next) {
      for (const Slot slot : chunks_[next].live) out_.save(slot);
    }
    if (leaves_function(source)) {
      for (const Slot slot : source.roles.reads) out_.save(slot);
      out_.line("  c->next = " + std::to_string(kReturns) + "u; goto leave;");
      return;
    }
    if (is_plain_barrier(source)) {
      const std::uint64_t next = source.index + 1 + kAtBarrier + (out_.constant(source.slot(0)) << 33);
      if (out_.is_kernel()) {
        out_.line("  if (c->together) { c->stops[c->linear_index] = " + unsigned_number(next) +
                  "; goto go_on_with_next; }");
      }
      out_.line("  c->next = " + unsigned_number(next) + "; goto leave;");
      return;
    }
    if (is_collective(source)) {
      for (const Slot slot : source.roles.reads) out_.save(slot);
      std::string condition = "c->together == " + std::to_string(kWarpTogether);
      if (source.roles.waits == Waits::for_lanes)
        condition += " && " + out_.get(source.slot(source.form.total - 1u), Type::u32) + " == 0xffffffffu";
      out_.line("  if (" + condition + ") { c->stops[c->linear_index] = " +
                unsigned_number(source.index + 1 + kAtCollective) + "; goto go_on_with_next; }");
    }
    if (source.in.execute == &execute_call) {
      out_.call(source);
      return;
    }
    out_.hand_over(source);
    out_.line("  c->next = " + std::to_string(kNextIsSet) + "u; goto leave;");
  }

  static bool leaves_function(const Source& source) {
    return source.form.effect.kind == Effect::Kind::leave_function;
  }

  // Where all threads of the block meet.
  bool is_plain_barrier(const Source& source) const {
    return source.form.effect.kind == Effect::Kind::barrier && source.form.results == 0 &&
           source.form.total == 1 && out_.is_constant(source.slot(0)) &&
           out_.constant(source.slot(0)) < kBarriers;
  }

  // Where threads of a warp meet; all of them, if the last operand says so or the instruction needs them.
  bool is_collective(const Source& source) const {
    const Waits waits = source.roles.waits;
    return out_.is_kernel() && (waits == Waits::for_warp || waits == Waits::for_lanes);
  }

  const Function& function_;
  std::vector<Roles> roles_;
  std::vector<Chunk> chunks_;
  Emitter out_;
  std::size_t index_;
  bool begins_copies_;
  bool meets_ = false;  ///< whether it is a kernel whose threads may meet at a barrier
};

}  // namespace translator

std::string symbol_of(std::size_t function) { return "opgate_function_" + std::to_string(function); }

Translation translate(const Program& program) {
  Translation translation;
  translation.code = kPrelude;
  for (std::size_t i = 1; i < program.functions.size(); ++i)
    translation.code += "void " + symbol_of(i) + "(struct context* c, s64 left, u64 at);\n";
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    translator::FunctionTranslator function(program, i);
    translation.code += function.translate();
    translation.functions.push_back(
        {nullptr, function.waits_in_warps(), function.constants(), function.begins()});
  }
  return translation;
}

}  // namespace opgate::simulator
