// What a package that was made with another build of the libraries does with those of the head.
#pragma once

#include <string>
#include <vector>

namespace opgate {

struct OldPackage {
  /// What went wrong: with one operator, or with all of the package.
  struct Problem {
    std::string op;    ///< its id; empty for all
    std::string what;  ///< "the package raises: ..."
    std::string call;  ///< the first that shows it; may be empty
    size_t others = 0;
  };

  std::string file;
  std::vector<Problem> problems;
  size_t answered = 0;  ///< calls that answered as they should
  size_t unknown = 0;   ///< calls of models of which nobody knows what they should answer
  std::string owed;     ///< why it could not be asked here; empty where it was
};

}  // namespace opgate
