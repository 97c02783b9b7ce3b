// A function of a library that is loaded already, replaced by another one.
#pragma once

namespace opgate::simulator::aten {

/// From now on every call of `from` runs `to`, which has the same type, however the caller found it: a
/// program may be linked with the library of `from`, so that no library which is loaded later could come
/// before it. False if the code of `from` cannot be changed here.
bool redirect(void* from, const void* to);

}  // namespace opgate::simulator::aten
