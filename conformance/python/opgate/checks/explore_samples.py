"""explore.samples: what other checks demand for the spec's samples holds for samples like them, too."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from opgate import _engine
from opgate.calls.call import Call
from opgate.calls.drawn_samples import ZEROS, Drawn, draw_sample, not_large, pick, ways_to_vary
from opgate.judging.judgement import Judgement, fail
from opgate.judging.registry import ONCE, check

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

EXAMPLES = 100
EXAMPLES_OF_SIMULATOR = 40
"""A call takes several times as long on the simulated device as on the CPU, which is asked as well."""


@dataclass(frozen=True)
class Example:
    """A sample that the spec did not write, with its dtype and layout."""

    sample: dict[str, Any]
    dtype: str
    variant: str
    changes: frozenset[str] = frozenset()


@dataclass
class Tally:
    """How many examples were judged, and how many the operator or its reference refused."""

    judged: int = 0
    refused: int = 0
    changes: Counter[str] = field(default_factory=Counter)

    def text(self, choices: list[Drawn]) -> str:
        """What was tried, and what was not."""
        what = ", ".join(f"{count} with other {change}" for change, count in sorted(self.changes.items()))
        text = (
            f"{self.judged} examples were judged ({what or 'with other values'}), {self.refused} were refused"
        )
        if any(not choice.sizes_change for choice in choices):
            text += "; sizes stayed in samples whose values may be indices or counts, or are trusted"
        if any(not choice.free for choice in choices):
            text += "; ranks and whole numbers stayed in these"
        return text


class Found(Exception):
    """An example that breaks a promise."""

    def __init__(self, example: Example, name: str, judgement: dict[str, Any]) -> None:
        super().__init__(name)
        self.example, self.name, self.judgement = example, name, judgement


def judge_example(call: Call, example: Example) -> None:
    """Raises Found if a check or the device fails; rejects examples that operator or reference refuse.

    The derivative at zeros is a choice: that of the absolute value may be 0 or 1.

    The example is judged contiguous, too, because only a contiguous call is compared with the reference.
    Where the device fails in another layout only, other examples say more.
    """
    from hypothesis import assume

    checks = [name for name in checks_for(call) if ZEROS not in example.changes or "grad" not in name]
    for variant in dict.fromkeys(("contiguous", example.variant)):
        seen = replace(example, variant=variant)
        answered = json.loads(
            _engine.judge_sample(call.id, json.dumps(seen.sample), seen.dtype, variant, checks)
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
    exploring = sorted(_engine.exploring_checks())
    return [name for name in exploring if not (call.described["lacks_fake"] and name.startswith("fake."))]


def finding_of(call: Call, found: Found) -> Judgement:
    """The finding for the smallest failing example, with the line to keep it as a sample."""
    example, said = found.example, found.judgement
    layout = "" if example.variant == "contiguous" else f" with {example.variant}"
    told = f"{example.dtype}, sample '{example.sample['name']}'{layout}"
    shown_by = json.dumps(
        {"check": found.name, "dtype": example.dtype, "variant": example.variant, "sample": example.sample}
    )
    if said["verdict"] == "crash":
        how = {name: said[name] for name in ("ended", "stack") if name in said}
        return Judgement("crash", reason=f"{said['reason']}; for {told}", example=shown_by, **how)
    finding = fail(
        f"{found.name} passes for every sample like those of the spec",
        f"{told}: {said.get('happened', '')}",
        said.get("likely", ""),
        detail=[
            "to keep it as a sample, put this line into a .json file of the folder that `regressions` in "
            "opgate.toml names:",
            json.dumps({"op": call.subject, "sample": example.sample}),
        ],
    )
    fault = {name: said.get(name, "") for name in ("fault", "about", "differs", "mistake")}
    return replace(finding, **fault, seen_by=found.name, seen_at=example.variant, example=shown_by)


@check(
    "explore.samples",
    slow=True,
    imports=("hypothesis",),
    packages=("hypothesis",),
    **ONCE,
)
def judge(call: Call) -> Judgement:
    """Draws examples, the same in every run, and shrinks the first that breaks a promise."""
    import hypothesis
    from hypothesis import strategies

    samples = json.loads(_engine.samples(call.id))
    choices = not_large(
        [
            ways_to_vary(sample, trusted=call.described["trusted"], any_size=any_size)
            for sample, any_size in zip(samples, _engine.samples_of_any_size(call.id), strict=True)
        ]
    )
    dtypes = _engine.dtypes(call.id)
    # An operator may return the index of any of several equal elements.
    floating_zeros = all(result.is_floating_point() for result in call.eager())
    tally = Tally()

    @strategies.composite
    def examples(draw: DrawFn) -> Example:
        sample, changes = draw_sample(
            draw, choices, floating_zeros=floating_zeros, ranks=not call.described["draft"]
        )
        dtype, variants = pick(draw, dtypes), _engine.variants(call.id, json.dumps(sample))
        return Example(sample, dtype, pick(draw, variants), changes)

    @hypothesis.settings(
        max_examples=EXAMPLES_OF_SIMULATOR if call.place == "sim" else EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(examples())
    @hypothesis.example(Example(samples[0], call.described["dtype"], "contiguous"))
    def holds(example: Example) -> None:
        tally.refused += 1
        judge_example(call, example)
        tally.refused -= 1
        tally.judged += 1
        tally.changes.update(example.changes)

    try:
        holds()
    except Found as found:
        return finding_of(call, found)
    except hypothesis.errors.Unsatisfiable:
        pass  # the operator refuses all but the samples of the spec, the first of which was judged
    return Judgement("pass", remarks=tally.text(choices))
