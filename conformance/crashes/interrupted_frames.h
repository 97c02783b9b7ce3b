// Where a thread was when a signal interrupted it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace opgate {

/// The most frames that interrupted_frames() gives.
inline constexpr size_t kMostFrames = 96;

/// Must be called once before `interrupted_frames` is used: what that needs may be loaded by its first call,
/// which is not safe in a signal handler.
void prepare_interrupted_frames();

/// Fills `addresses` with the address of the interrupted instruction and then the return addresses, from the
/// innermost call outwards; returns how many there are. For signal handlers: it allocates nothing.
size_t interrupted_frames(const ucontext_t& context, std::span<uintptr_t> addresses);

}  // namespace opgate
