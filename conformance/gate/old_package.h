// How an AOTInductor package that was made with another build of the libraries behaves with the head's
// build.
#pragma once

#include <string>
#include <vector>

namespace opgate {

struct OldPackage {
  /// What went wrong, with one operator or with the whole package.
  struct Problem {
    std::string op;     ///< its id; empty for the whole package
    std::string what;   ///< "the package raises: ..."
    std::string call;   ///< the first call that shows the problem; may be empty
    size_t others = 0;  ///< how many more calls show it
  };

  std::string file;
  std::vector<Problem> problems;
  size_t answered = 0;  ///< calls with the right answer
  size_t unknown = 0;   ///< calls of models whose right answer is not known
  std::string owed;     ///< why the package could not run here; empty if it ran
};

}  // namespace opgate
