// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace opgate {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

/// All that can be read from the descriptor until its end, such as from a pipe until the other side closes
/// it.
std::string content_until_end(int descriptor);

}  // namespace opgate
