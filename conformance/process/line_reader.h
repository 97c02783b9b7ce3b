// Reads a file descriptor line by line, waiting for each.
#pragma once

#include <optional>
#include <string>

namespace opgate {

class LineReader {
 public:
  /// Reads from `descriptor`, which it does not close.
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  /// The next line, without its end; none if there is no further one. A signal that interrupts the wait, such
  /// as of a timer that an operator has left behind, ends nothing: std::getline would take it for the end.
  std::optional<std::string> next();

 private:
  int descriptor_;
  std::string read_;
};

}  // namespace opgate
