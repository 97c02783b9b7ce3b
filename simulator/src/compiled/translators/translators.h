// The groups of instructions that are translated to C. Each is a file, with the rows of its opcodes.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "compiled/emitter.h"

namespace opgate::simulator {

/// Writes the code of an instruction. False if it is not known, or not worth the code: the interpreter
/// executes it.
using Translate = bool (*)(Emitter& out, Source& source);

/// How the opcodes of a name are translated.
using TranslationRow = std::pair<std::string_view, Translate>;

std::vector<TranslationRow> translations_of_integers();
std::vector<TranslationRow> translations_of_floats();
std::vector<TranslationRow> translations_of_bits();
std::vector<TranslationRow> translations_of_comparisons();
std::vector<TranslationRow> translations_of_conversions();
std::vector<TranslationRow> translations_of_moves();
std::vector<TranslationRow> translations_of_atomics();

// Arithmetic, by the type of its numbers.
bool translate_integer(Emitter& out, Source& source, Type type);
bool translate_float(Emitter& out, Source& source, Type type);
bool translate_half(Emitter& out, Source& source, Type type);

/// In double precision, which NaN results is left to the interpreter: compilers may swap operands, and
/// processors take the NaN of the first.
void set_double(Emitter& out, Source& source, const std::string& value);

}  // namespace opgate::simulator
