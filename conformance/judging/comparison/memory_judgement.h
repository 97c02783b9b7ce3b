// What the checks of memory share: damage in words, and whether a result depends on poisoned memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// The block by the name of the argument that lies in it, or by its size.
std::string owner_of(const Block& block, const Arguments& arguments);

/// The finding for a damaged red zone or freed block: whose block it is, and how many bytes were written
/// where.
Finding describe_damage(const Damage& damage, const Arguments& arguments);

/// Whether nothing has been written to the tensor since its memory was allocated and filled with `poison`.
bool is_untouched(const at::Tensor& tensor, std::byte poison = kFirstPoison.fresh);

enum class PoisonedMemory {
  outside,  ///< the gaps of arguments and the red zones around blocks
  fresh,    ///< memory that is allocated or freed during the call
};

/// Fails where the result depends on the bytes in this kind of memory: under kSecondPoison, or for some calls
/// under kNanPoison. Where the results under two poisons differ, the call is repeated without any change, to
/// recognize an operator that is not deterministic, and with the other poison in this kind of memory only.
/// `promised` is what the finding says. For a draft, a result that was allocated and not written to at all,
/// as at::empty_like returns it, is a note.
Judgement judge_poison(CallUnderTest& under_test, PoisonedMemory kind, const std::string& promised);

/// How the result changes where fresh memory holds this byte instead of the first poison; none if it does
/// not, or where it changes without that. On the simulated device, memory of blocks and threads is fresh,
/// too.
std::optional<std::string> change_with_fresh(CallUnderTest& under_test, std::byte byte);

}  // namespace opgate
