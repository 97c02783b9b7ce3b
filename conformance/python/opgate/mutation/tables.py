"""What mutants of C++ and of Python have in common: which word becomes which other."""

from __future__ import annotations

# In a bound, the neighbour of a comparison is the mistake that is made; in an equation, the opposite.
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# A method, and what is called instead; None: the object itself.
METHODS: dict[str, tuple[str, str | None]] = {
    "size": ("stride for size", "stride"),
    "stride": ("size for stride", "size"),
    "contiguous": ("layout", None),
    "clone": ("alias", None),
    "expand_as": ("expansion", None),
    "sum_to_size": ("gradient", None),
}
FUNCTIONS = {
    "zeros": ("unwritten memory", "empty"),
    "zeros_like": ("unwritten memory", "empty_like"),
    "new_zeros": ("unwritten memory", "new_empty"),
}
# Functions that make a result whose strides a fake kernel must have, too.
MAKERS = ("empty", "empty_like", "new_empty")
# An expression is repeated in the mutant.
LONGEST = 200
