"""explore.samples: what other checks demand for the spec's samples holds for samples like them, too."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opgate import _engine
from opgate.call import Call
from opgate.judgement import PASS, Judgement, fail
from opgate.registry import check

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

EXAMPLES = 100
# The checks that are cheap and apply to every call. For the others, one call tells as much as a hundred.
CHECKS = (
    "effect.alias",
    "effect.mutation",
    "fake.metadata",
    "grad.layout",
    "grad.reference",
    "memory.bounds",
    "memory.uninitialised",
    "value.layout",
    "value.reference",
)


@dataclass(frozen=True)
class Example:
    """A sample that the spec did not write, with its dtype and layout."""

    sample: dict[str, Any]
    dtype: str
    variant: str


class Found(Exception):
    """An example that breaks a promise."""

    def __init__(self, example: Example, name: str, judgement: dict[str, Any]) -> None:
        super().__init__(name)
        self.example, self.name, self.judgement = example, name, judgement


def tensors_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The tensor arguments of the sample, including each tensor of a list."""
    found = []
    for argument in sample["arguments"]:
        if isinstance(argument, dict):
            found += [part for part in argument.get("tensors", [argument]) if "shape" in part]
    return found


def takes_counts(sample: dict[str, Any]) -> bool:
    """Whether an argument may be the number of something in a tensor, as 12 is and 1 is not."""

    def is_count(value: object) -> bool:
        if isinstance(value, list):
            return any(map(is_count, value))
        return isinstance(value, int) and value > 1

    return any(map(is_count, sample["arguments"]))


@dataclass(frozen=True)
class Drawn:
    """A sample to draw others from, and how their sizes may differ."""

    sample: dict[str, Any]
    sizes_change: bool
    equal_sizes_may_differ: bool


def drawn_from(sample: dict[str, Any], *, trusted: bool, any_size: bool) -> Drawn:
    """How sizes may change: not if the spec trusts an argument, or lists values that depend on them.

    Functions whose calls were recorded need not refuse sizes that do not fit each other, nor a count that
    is larger than the tensor that it is given with.
    """
    if trusted:
        return Drawn(sample, sizes_change=False, equal_sizes_may_differ=False)
    if not any(tensor["values"].startswith("literal") for tensor in tensors_of(sample)):
        return Drawn(sample, sizes_change=True, equal_sizes_may_differ=True)
    return Drawn(sample, sizes_change=any_size and not takes_counts(sample), equal_sizes_may_differ=False)


def draw_sample(draw: DrawFn, choices: list[Drawn]) -> dict[str, Any]:
    """One of the samples with other sizes, none of them larger, and other values."""
    from hypothesis import strategies

    chosen = draw(strategies.sampled_from(choices))
    sample = json.loads(json.dumps(chosen.sample))
    tensors = tensors_of(sample)
    if chosen.sizes_change:
        # Equal sizes may have to be equal, or may be equal by chance: both are tried.
        tied = not chosen.equal_sizes_may_differ or draw(strategies.booleans())
        drawn = {
            size: draw(strategies.integers(0, max(size, 4)))
            for size in sorted({size for tensor in tensors for size in tensor["shape"]})
        }
        for tensor in tensors:
            tensor["shape"] = [
                drawn[size] if tied else draw(strategies.integers(0, max(size, 4)))
                for size in tensor["shape"]
            ]
    shapes = ",".join("x".join(map(str, tensor["shape"])) or "0d" for tensor in tensors)
    # The engine derives the values from the sample's name.
    sample["name"] = f"explored {draw(strategies.integers(0, 99))} {shapes}"
    return sample


def judge_example(call: Call, example: Example) -> None:
    """Raises Found if a check or the device fails; rejects examples that operator or reference refuse.

    The example is judged contiguous, too, because only a contiguous call is compared with the reference.
    Where the device fails in another layout only, other examples say more.
    """
    from hypothesis import assume

    for variant in dict.fromkeys(("contiguous", example.variant)):
        seen = replace(example, variant=variant)
        answered = json.loads(
            _engine.judge_sample(call.id, json.dumps(seen.sample), seen.dtype, variant, checks_for(call))
        )
        assume(answered is not None)
        for name, judgement in answered.items():
            if judgement["verdict"] == "fail" or (
                judgement["verdict"] == "crash" and variant == "contiguous"
            ):
                raise Found(seen, name, judgement)
        assume(all(judgement["verdict"] in ("pass", "owed") for judgement in answered.values()))


def checks_for(call: Call) -> list[str]:
    """The checks that are asked: without those of a fake kernel where there is none, as fake.exists says."""
    return [name for name in CHECKS if not (call.described["lacks_fake"] and name.startswith("fake."))]


def finding(call: Call, found: Found) -> Judgement:
    """The finding for the smallest failing example, with the line to keep it as a sample."""
    kept = json.dumps({"op": call.subject, "sample": found.example.sample})
    layout = "" if found.example.variant == "contiguous" else f" with {found.example.variant}"
    example = f"{found.example.dtype}, sample '{found.example.sample['name']}'{layout}"
    if found.judgement["verdict"] == "crash":
        stack = found.judgement.get("stack", [])
        ended = found.judgement.get("ended", "")
        return Judgement(
            "crash", reason=f"{found.judgement['reason']}; for {example}", ended=ended, stack=stack
        )
    said = fail(
        f"{found.name} passes for every sample like those of the spec",
        f"{example}: {found.judgement.get('happened', '')}",
        found.judgement.get("likely", ""),
        detail=[
            "to keep it as a sample, put this line into a .json file of the folder that `regressions` in "
            "opgate.toml names:",
            kept,
        ],
    )
    fault = {name: found.judgement.get(name, "") for name in ("fault", "about", "differs", "mistake")}
    return replace(said, **fault, seen_by=found.name, seen_at=found.example.variant)


@check(
    "explore.samples",
    slow=True,
    imports=("hypothesis",),
    packages=("hypothesis",),
    extra="explore",
    variants="contiguous",
    dtypes="first",
    first_sample=True,
)
def judge(call: Call) -> Judgement:
    """Draws 100 examples, the same in every run, and shrinks the first that breaks a promise."""
    import hypothesis
    from hypothesis import strategies

    samples = json.loads(_engine.samples(call.id))
    choices = [
        drawn_from(sample, trusted=call.described["trusted"], any_size=any_size)
        for sample, any_size in zip(samples, _engine.samples_of_any_size(call.id), strict=True)
    ]
    dtypes = _engine.dtypes(call.id)

    @strategies.composite
    def examples(draw: DrawFn) -> Example:
        sample = draw_sample(draw, choices)
        variants = _engine.variants(call.id, json.dumps(sample))
        return Example(sample, draw(strategies.sampled_from(dtypes)), draw(strategies.sampled_from(variants)))

    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(examples())
    @hypothesis.example(Example(samples[0], call.described["dtype"], "contiguous"))
    def holds(example: Example) -> None:
        judge_example(call, example)

    try:
        holds()
    except Found as found:
        return finding(call, found)
    except hypothesis.errors.Unsatisfiable:
        return PASS  # the operator refuses all but the samples of the spec, the first of which was judged
    return PASS
