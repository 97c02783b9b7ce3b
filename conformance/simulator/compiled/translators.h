// Translate instructions of one group each to C. False where an instruction is not known, or not worth the
// code: the interpreter executes it.
#pragma once

#include "simulator/compiled/emitter.h"

namespace opgate::simulator {

bool translate_arithmetic(Emitter& out, Source& source);  // add sub mul mad fma div rem abs neg min max
bool translate_integer(Emitter& out, Source& source, Type type);
bool translate_float(Emitter& out, Source& source, Type type);
bool translate_half(Emitter& out, Source& source, Type type);
bool translate_function(Emitter& out, Source& source);  // rcp sqrt rsqrt ex2 lg2 tanh
bool translate_copysign(Emitter& out, Source& source);
bool translate_bits(Emitter& out, Source& source);
bool translate_lookup(Emitter& out, Source& source);        // lop3
bool translate_permutation(Emitter& out, Source& source);   // prmt
bool translate_funnel_shift(Emitter& out, Source& source);  // shf
bool translate_comparison(Emitter& out, Source& source);    // setp
bool translate_choice(Emitter& out, Source& source);        // selp
bool translate_conversion(Emitter& out, Source& source);    // cvt
bool translate_move(Emitter& out, Source& source);          // mov
bool translate_address(Emitter& out, Source& source);       // cvta
bool translate_load(Emitter& out, Source& source);          // ld
bool translate_store(Emitter& out, Source& source);         // st

/// In double precision, which NaN results is left to the interpreter: compilers may swap operands, and
/// processors take the NaN of the first.
void set_double(Emitter& out, Source& source, const std::string& value);

}  // namespace opgate::simulator
