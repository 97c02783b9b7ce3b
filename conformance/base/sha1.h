// SHA-1 of bytes, such as the contents of a file.
#pragma once

#include <c10/util/hash.h>

#include <string>

namespace opgate {

/// In hexadecimal digits. c10::sha1 leaves its state uninitialised for an empty text.
inline std::string sha1_of(const std::string& bytes) {
  c10::sha1 hash(bytes);
  if (bytes.empty()) hash.reset();
  return hash.str();
}

}  // namespace opgate
