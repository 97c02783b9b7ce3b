"""What the text of a candidate promises: a kernel of its own, or none."""

from __future__ import annotations

import io
import re
import tokenize

ON_THE_CPU = (
    r"cpp_sources?|cpp_extension|load_inline|ctypes|cffi|numba|custom_op|torch\.ops\.\w+|load_library"
)
ON_CUDA = r"triton|cuda_sources?|__global__|cupy|_compile_kernel|cutlass|tilelang"


def claimed_kernel(text: str, device: str) -> tuple[str, bool]:
    """The word that promises a kernel, or nothing; and whether the kernel runs on this device."""
    code = without_comments(text)
    on_cuda, on_cpu = re.search(ON_CUDA, code), re.search(ON_THE_CPU, code)
    if on_cuda:
        return on_cuda[0], device != "cpu"
    return (on_cpu[0], True) if on_cpu else ("", True)


def without_comments(text: str) -> str:
    """The text without its comments in Python; strings stay, which may hold the source of a kernel."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    return " ".join(token.string for token in tokens if token.type != tokenize.COMMENT).replace(" . ", ".")
