"""A plugin of pytest below `opgate sim --autotune all`: a test judges the configurations of its kernels.

A test that passes runs again with each configuration that left other results than the first that works, if
only by rounding: its own tolerances decide. If it fails then, and passes once more with the first, it fails.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Raises pytest's Failed for a wrong configuration."""
    sweep = sys.modules["opgate_startup_all_configurations"].SWEEP
    sweep.begin_test()
    rewind = randomness()
    yield
    for difference in list(sweep.found.values()):
        rewind()
        with sweep.forcing(difference):
            error = error_of(item)
        if error is None:
            continue
        rewind()
        with sweep.forcing(None):
            again = error_of(item)
        words = difference.in_words()
        if again is None:
            pytest.fail(f"opgate sim: the test fails with a configuration: {words}\n{error}", pytrace=False)
        print(f"opgate sim: the test passes only once, and cannot judge {words}", file=sys.stderr)


def error_of(item: pytest.Item) -> str | None:
    """Runs the test once more, in the fixtures that it has. What it raised, in pytest's words."""
    # What a test raises may be anything; pytest's own outcomes are no Exception.
    try:
        item.runtest()
    except pytest.skip.Exception:
        return None
    except (Exception, pytest.fail.Exception):
        return str(item.repr_failure(pytest.ExceptionInfo.from_current()))
    of_unittest = getattr(item, "_excinfo", None)  # where pytest keeps what unittest has caught
    return str(item.repr_failure(of_unittest.pop())) if of_unittest else None


def randomness() -> Callable[[], None]:
    """Returns what brings random numbers back to where they are now."""
    state = random.getstate()
    numpy: Any = sys.modules.get("numpy")
    state_of_numpy = numpy.random.get_state() if numpy else None
    torch: Any = sys.modules.get("torch")
    state_of_torch = torch.get_rng_state() if torch else None
    on_devices = torch.cuda.get_rng_state_all() if torch and torch.cuda.is_initialized() else None

    def rewind() -> None:
        random.setstate(state)
        if numpy:
            numpy.random.set_state(state_of_numpy)
        if torch:
            torch.set_rng_state(state_of_torch)
        if on_devices is not None:
            torch.cuda.set_rng_state_all(on_devices)

    return rewind
