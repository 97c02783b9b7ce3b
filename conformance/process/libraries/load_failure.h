// Why the dynamic loader refuses a library: which symbol or file is missing, what should have it, and what to
// do.
#pragma once

#include <filesystem>
#include <string>

namespace opgate {

struct LoadFailure {
  std::string said;     ///< the loader's own words
  std::string symbol;   ///< the symbol that nothing defines, mangled; empty if another thing is wrong
  std::string library;  ///< the name of a library that is not found: "libhelper.so"; else empty
};

/// What dlerror() said after dlopen() of a library.
LoadFailure load_failure(const std::string& said);

/// Whether torch's C++ libraries define symbols like this one.
bool is_symbol_of_torch(const std::string& symbol);

/// Whether the libraries of an accelerator, or those of torch for it, define symbols like this one.
bool is_symbol_of_accelerator(const std::string& symbol);

/// The failure in a sentence for the user, with the remedy.
std::string explained(const LoadFailure& failure, const std::filesystem::path& file);

}  // namespace opgate
