// Translates a decoded kernel to C.
#pragma once

#include <string>
#include <vector>

#include "machine/launches/compiled_code.h"
#include "ptx/program.h"

namespace opgate::simulator {

struct Translation {
  /// A whole file, with one function for each function of the program: `opgate_function_0` and so on.
  std::string code;
  std::vector<CompiledFunction> functions;  ///< without their addresses
};

Translation translate(const Program& program);

/// The symbol of a function of the program.
std::string symbol_of(std::size_t function);

}  // namespace opgate::simulator
