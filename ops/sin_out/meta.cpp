// The meta kernel of sin_out. It returns nothing, and only checks the arguments.
#include <torch/library.h>

#include "sin_out.h"

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("sin_out", &opgate_ops::check_sin_out); }
