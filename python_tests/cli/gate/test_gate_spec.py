"""opgate gate refuses a change that rewrites an operator and its spec; see fixtures/changes/weigh.cpp."""

from __future__ import annotations

import pytest
from changes import Runs

# What changed, the rules that refuse it, and what the gate says of it.
REFUSED = {
    "formula": ({"bits.changed", "value.changed"}, "it computes another function"),
    "formula,narrow_domain": (
        {"bits.changed", "case.lost", "value.changed"},
        '"uniform"},3.0] -> [{"shape":[4,8],"values":"uniform(0,1)"},3.0]',
    ),
    "narrow_domain": ({"case.lost"}, "the sample `matrix` has other arguments"),
    "swapped_sample": ({"case.lost"}, "the sample `row` has other arguments"),
    "scaled": ({"promise.weakened"}, "1 ulps -> 1 ulps scaled by inputs"),
    "ulps_of_half": ({"promise.weakened"}, "1 ulps -> 1 ulps of float16"),
    "loose_gradient": ({"promise.weakened"}, "64 ulps -> 1e+09 ulps"),
    "wrong_gradient,loose_gradient": (
        {"accuracy.worse", "promise.weakened"},
        "accuracy, cpu, float32, grad.reference: worst error",
    ),
    "wrong_gradient": ({"grad.reference"}, "grad.reference, cpu: fail"),
    "unspecified": ({"promise.weakened"}, "`unspecified` was added for 0"),
    "on_cpu": ({"promise.weakened"}, "other results lie on the CPU"),
    "unspecified_for_nan": ({"case.lost", "promise.weakened"}, "`unspecified_for` was added for nan"),
    "refuses_strides": ({"output.metadata", "promise.weakened"}, "`wants_contiguous` was added for x"),
    "no_tag": ({"promise.weakened"}, "the tag pt2_compliant_tag is gone"),
    "random_tag": ({"promise.weakened"}, "has the tag nondeterministic_bitwise now"),
    "no_autocast": ({"case.lost"}, "no longer has a kernel for AutocastCPU"),
    "no_rejection": ({"case.lost", "promise.weakened"}, "no longer promises to reject `weight 0`"),
    "no_message": ({"promise.weakened"}, 'raises "must not be 0" -> '),
    "other_message": ({"promise.weakened"}, 'raises "is zero"'),
    "no_bench": ({"promise.weakened"}, "the bench `64x64,3.` is gone"),
    "slow_limit": ({"promise.weakened"}, "0.02 -> 0.01 times the baseline"),
    "draft": ({"case.lost", "promise.weakened"}, "the spec became a draft"),
    "formula,narrow_domain,wrong_gradient,scaled,loose_gradient,no_tag": (
        {"accuracy.worse", "bits.changed", "case.lost", "promise.weakened", "value.changed"},
        "the accuracy of gradients is looser",
    ),
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_change_that_agrees_with_its_spec_is_refused(change: str, runs: Runs) -> None:
    result = runs.gate("", change)
    rules, said = REFUSED[change]
    assert result.returncode == 1, result
    assert runs.refused(change) == rules
    assert said in result.stdout


# The base, the head, and what the gate remarks although it accepts.
ACCEPTED = {
    ("", "rewritten"): set(),
    ("", "reference_rewritten"): set(),
    ("", "renamed_sample"): {("note", "case.lost")},
    ("", "half_ulp"): {("better", "promise.weakened")},
    ("", "tight_gradient"): {("better", "promise.weakened")},
    ("", "more_rejections"): {("better", "promise.weakened")},
    ("no_tag", ""): {("note", "promise.weakened")},
    ("no_autocast", ""): {("note", "case.lost")},
    ("unspecified", ""): {("better", "promise.weakened")},
    ("refuses_strides", ""): {("better", "promise.weakened")},
    ("draft", ""): {("better", "promise.weakened")},
    ("slow_limit", ""): {("better", "promise.weakened")},
    ("wrong_gradient", ""): set(),
}


@pytest.mark.parametrize(("base", "head"), ACCEPTED)
def test_a_harmless_or_stricter_change_is_accepted(base: str, head: str, runs: Runs) -> None:
    result = runs.gate(base, head)
    assert result.returncode == 0, result
    assert {(remark["kind"], remark["rule"]) for remark in runs.remarks(head)} == ACCEPTED[base, head]
