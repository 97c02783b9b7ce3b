// sin_out without data: there is nothing to make, only something to refuse.
#include <torch/library.h>

#include "sin_out.h"

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) { m.impl("sin_out", &opgate_ops::check_sin_out); }
