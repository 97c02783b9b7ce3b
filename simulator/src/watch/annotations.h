// What an observer must know of an instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/effect.h"
#include "watch/access_record.h"

namespace opgate::simulator {

struct Program;

/// The effect of an instruction, and what only its place in the program tells.
struct Annotation : Effect {
  std::uint32_t site = 0;  ///< numbers the instructions of the program, from 1
  /// A plain load that races with no strong access, because a compare-and-swap looks again.
  bool is_guess = false;
  /// Whether it names a register that a product of the function uses, or a copy of one that is made before
  /// the wait for the product, or writes one that a move copies to it.
  bool names_product_register = false;
  bool only_moves = false;   ///< in such an instruction: it does so whatever the predicates are
  std::uint8_t results = 0;  ///< of such an instruction: the first slots, which it writes
  std::uint32_t how = 0;     ///< of `AccessRecord::who_and_how`, all but the thread; see `number`

  /// Once all else is known.
  void number(std::uint32_t in_program) {
    site = in_program;
    how = AccessRecord::who_and_how_of(0, site, strength());
  }

 private:
  AccessRecord::Strength strength() const {
    if (!is_strong && !is_guess) return AccessRecord::weak;
    if (is_volatile) return AccessRecord::is_volatile;
    return scope == Scope::block     ? AccessRecord::in_block
           : scope == Scope::cluster ? AccessRecord::in_cluster
                                     : AccessRecord::on_device;
  }
};

/// Whether what a program computes may depend on the order in which its threads run, although it is right:
/// with atomic and volatile accesses, threads may agree on any of several results; clocks differ; and what is
/// done on the host is not watched.
bool may_depend_on_order(const Program& program, const std::vector<Annotation>& annotations);

/// The annotations of all instructions of a program, in the order of their numbers. Instructions that a tool
/// must watch refer to them, for as long as the result exists.
std::vector<Annotation> annotate(Program& program);

}  // namespace opgate::simulator
