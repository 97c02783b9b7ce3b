"""`opgate list`, `explain`, --help and --version: what they print, and how they refuse unknown names."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from harness import OpGate, assert_refused

NATIVE = [
    "effect.alias",
    "effect.mutation",
    "fake.metadata",
    "value.dtype",
    "value.layout",
    "value.reference",
]
PYTHON = ["aoti.python", "export.graph", "opcheck"]
AOTI = ["aoti.cpp", "aoti.cross"]
RULES = ["case.lost", "package.stale", "schema.compatible", "speed.slower", "verdict.broken"]
SHOWN = [
    "compile.equal",
    "effect.alias",
    "effect.mutation",
    "effect.state",
    "error.raises",
    "fake.exists",
    "fake.metadata",
    "fake.symbolic",
    "grad.layout",
    "grad.reference",
    "memory.bounds",
    "memory.lifetime",
    "memory.uninitialised",
    "opcheck",
    "registration.schema",
    "run.deterministic",
    "run.graph",
    "run.stream",
    "run.threads",
    "value.batch",
    "value.dtype",
    "value.empty",
    "value.layout",
    "value.reference",
]
CASE = re.compile(
    r"[\w.]+(::[\w.]+)?/\w+/[^/]+/(contiguous|bad:[^/]+|[^/=]+=[\w-]+)/(cpu|cuda|sim)/\w+(\.\w+)?"
)


@pytest.fixture(scope="module")
def project(identity_project: Callable[[], Path]) -> Path:
    return identity_project()


@pytest.fixture(scope="module")
def everything(opgate: OpGate, project: Path) -> list[str]:
    """Every planned case."""
    return listed(opgate, project, "cases")


def listed(opgate: OpGate, project: Path, *arguments: str) -> list[str]:
    """The lines of `opgate list ...`."""
    result = opgate("list", *arguments, folder=project)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout.splitlines()


def test_operators_are_listed_with_devices_and_dtypes(opgate: OpGate, project: Path) -> None:
    words = [line.split() for line in listed(opgate, project, "ops")]
    floating = ["float16", "bfloat16", "float32", "float64"]
    assert words == [
        [name, device, samples, "samples", *floating, f"opgate_ops::{name}"]
        for name, samples in (("IdentityConv", "2"), ("identity_conv", "5"))
        for device in ("cpu", "cuda")
    ]


def test_a_filter_chooses_among_operators_and_checks_too(opgate: OpGate, project: Path) -> None:
    ops = listed(opgate, project, "ops", "--device", "cpu", "--op", "identity_*")
    assert [line.split()[:2] for line in ops] == [["identity_conv", "cpu"]]
    checks = listed(opgate, project, "checks", "--check", "effect", "--case", "*/contiguous/*")
    names = {line.split()[0] for line in checks}
    assert names >= {"effect.alias", "effect.mutation", "effect.state"}
    assert {name.partition(".")[0] for name in names} == {"effect"}
    unknown = opgate("list", "ops", "--device", "abacus", folder=project)
    assert_refused(unknown, "abacus", "cpu", "cuda")
    sources = listed(opgate, project, "sources", "--op", "opgate_ops::identity_conv")
    assert [line.split()[1] for line in sources] == ["identity_conv"]
    assert_refused(opgate("list", "sources", "--op", "abacus", folder=project), "abacus", "identity_conv")


def test_checks_are_listed_with_worker_and_promise(opgate: OpGate, project: Path) -> None:
    lines = listed(opgate, project, "checks")
    worker_of = {line.split()[0]: line.split()[1] for line in lines}
    known = {
        **dict.fromkeys(NATIVE, "native"),
        **dict.fromkeys(PYTHON, "python"),
        **dict.fromkeys(AOTI, "aoti"),
    }
    assert known.items() <= worker_of.items()
    assert list(worker_of) == sorted(worker_of)
    assert all(line.endswith(".") for line in lines)


def test_cases_are_listed_sorted_and_once(everything: list[str]) -> None:
    assert all(CASE.fullmatch(case) for case in everything)
    assert len(set(everything)) == len(everything)
    parts = [case.split("/") for case in everything]
    ops = [op for op, *_ in parts]
    assert ops == sorted(ops)
    # All cases of a device, and of a sample on it, follow each other.
    for places in ([(p[0], p[4]) for p in parts], [(p[0], p[4], p[2]) for p in parts]):
        runs = [place for place, _ in groupby(places)]
        assert len(set(runs)) == len(runs)


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        (["--check", "value"], lambda case: "/value." in case),
        (["--check", "value.layout", "opcheck"], lambda case: case.endswith(("/value.layout", "/opcheck"))),
        (["--device", "cuda"], lambda case: "/cuda/" in case),
        (["--op", "identity_*"], lambda case: case.startswith("identity_conv/")),
        (["--case", "*/7/x=stepped/*"], lambda case: "/7/x=stepped/" in case),
    ],
    ids=["group", "checks", "device", "op", "case"],
)
def test_a_filter_leaves_what_it_names(
    words: list[str], fits: Callable[[str], bool], everything: list[str], opgate: OpGate, project: Path
) -> None:
    kept = listed(opgate, project, "cases", *words)
    assert kept
    assert kept == [case for case in everything if fits(case)]


def test_tests_are_one_line_an_operator_group_and_device(
    opgate: OpGate, project: Path, has_simulator: bool
) -> None:
    lines = listed(opgate, project, "tests", "--check", "value", "opcheck")
    assert all(int(line.rpartition(" ")[2]) > 0 for line in lines), "each with the number of its cases"
    assert sorted(line.rpartition(" ")[0] for line in lines) == [
        f"identity_conv {group} {device} {worker}"
        for group, worker in (("opcheck", "python"), ("value", "native"))
        for device in ("cpu", "cuda", "sim")
        if device != "sim" or has_simulator
    ]


Explained = Callable[[str], dict[str, list[str]]]


@pytest.fixture(scope="module")
def explained(opgate: OpGate, project: Path) -> Explained:
    """explained(CHECK) gives the lines of `opgate explain CHECK`, by title; it asks once for each check."""

    @cache
    def ask(check: str) -> dict[str, list[str]]:
        result = opgate("explain", check, folder=project)
        assert (result.returncode, result.stderr) == (0, "")
        parts = [part.splitlines() for part in re.split(r"\n\n(?=\S)", result.stdout.rstrip())]
        return {title: lines for title, *lines in parts}

    return ask


@pytest.mark.parametrize("check", sorted({*NATIVE, *PYTHON, *AOTI, *RULES, *SHOWN}))
def test_each_check_and_rule_is_explained_in_parts(check: str, explained: Explained) -> None:
    parts = explained(check)
    code = ["Wrong", "Right"] if check in SHOWN else []
    limits = ["What it does not find"] if "What it does not find" in parts else []
    assert list(parts) == [check, "Why it matters", "How to fix it", *code, "A bug of this kind", *limits]
    assert all(len(lines[0]) > 20 for lines in parts.values())
    assert all(line.startswith("  ") for lines in parts.values() for line in lines)


@pytest.mark.parametrize("check", SHOWN)
def test_wrong_and_right_code_is_short_and_whole(check: str, explained: Explained) -> None:
    parts = explained(check)
    assert parts["Wrong"] != parts["Right"]
    for lines in (parts["Wrong"], parts["Right"]):
        assert 2 <= len(lines) <= 10
        assert all(line.strip() and len(line) <= 110 for line in lines)
        assert all("".join(lines).count(a) == "".join(lines).count(b) for a, b in ("()", "{}", "[]"))
    assert "wrong:" not in " ".join(parts["How to fix it"]), "code is not said twice"


@pytest.mark.parametrize("check", ["memory.pages", "fake.accepted", "aoti.dynamic", "package.stale"])
def test_what_a_check_does_not_find_is_said_last(check: str, explained: Explained) -> None:
    assert list(explained(check))[-1] == "What it does not find"


def test_a_native_check_is_explained_without_a_project(opgate: OpGate) -> None:
    assert opgate("explain", "value.layout").stdout.startswith("value.layout\n  The same values")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["explain", "value.layuot"], ["value.layuot", "similar of", "value.layout"]),
        (["list", "cases", "--check", "nothing"], ["nothing", "value", "opcheck"]),
        (["list", "cases", "--op", "identity"], ["'identity'", "identity_conv"]),
        (["list", "cases", "--device", "tpu"], ["tpu", "cpu", "cuda"]),
        (["list", "cases", "--case", "*/9x9/*"], ["*/9x9/*", "opgate list cases"]),
        (["run", "--op", "identity"], ["'identity'", "identity_conv"]),
        (["repro", "no-case"], ["no-case", "opgate list cases"]),
        (["repro", "identity_conv/float32/7/contiguous/cpu/nothing"], ["'nothing'", "value.layout"]),
        (["repro", "identity/float32/7/contiguous/cpu/opcheck"], ["'identity'", "identity_conv"]),
        (["repro", "identity_conv/float32/9/contiguous/cpu/opcheck"], ["'9'", "2x3x257"]),
        (["repro", "identity_conv/float32/7/x=flat/cpu/opcheck"], ["'x=flat'", "x=stepped"]),
    ],
    ids=" ".join,
)
def test_what_there_is_not_is_refused_with_what_there_is(
    words: list[str], fragments: list[str], opgate: OpGate, project: Path
) -> None:
    result = opgate(*words, folder=project)
    assert result.stdout == ""
    assert_refused(result, *fragments)


def test_a_filter_that_leaves_nothing_is_refused(opgate: OpGate, project: Path) -> None:
    words = ["list", "cases", "--check", "value.layout", "--case", "*/contiguous/*"]
    assert_refused(opgate(*words, folder=project), "no case matches", "*/contiguous/*")


@pytest.fixture(scope="module")
def help_of_all(opgate: OpGate) -> str:
    return opgate("--help").stdout


@pytest.mark.parametrize("subcommand", ["run", "list", "explain", "repro", "aoti", "merge"])
def test_each_subcommand_has_help(subcommand: str, opgate: OpGate, help_of_all: str) -> None:
    result = opgate(subcommand, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"Usage: opgate {subcommand}" in result.stdout
    assert "Exit status: 0 all promises kept, 1 a promise broken, 2 wrong usage" in result.stdout
    assert subcommand in help_of_all


def test_the_version_names_torch_too(opgate: OpGate) -> None:
    result = opgate("--version")
    assert result.returncode == 0
    assert re.fullmatch(r"OpGate \d+\.\d+\.\d+ \(torch \d+\.\d+\.\d+\)\n", result.stdout)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["list"],
        ["list", "nothing"],
        ["explain"],
        ["repro"],
        ["aoti"],
        ["merge"],
        ["merge", "x"],
        ["run", "--nothing"],
        ["nothing"],
    ],
)
def test_wrong_usage_exits_with_2_and_points_to_help(words: list[str], opgate: OpGate) -> None:
    result = opgate(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(r"opgate: .+; see opgate --help\n", result.stderr)


def test_an_unknown_subcommand_is_named(opgate: OpGate) -> None:
    assert "nothing" in opgate("nothing").stderr


def test_a_filter_may_stand_before_what_to_list(opgate: OpGate, project: Path) -> None:
    assert listed(opgate, project, "--op", "identity_conv", "ops")


@pytest.mark.parametrize("words", [["list", "cases"], ["list", "sources"], ["explain", "--markdown"]])
def test_a_reader_may_leave(opgate: OpGate, source: Path, words: list[str]) -> None:
    """Closes the output early, as `| head -1` does."""
    process = subprocess.Popen(
        [str(opgate.program), *words, "--config", source / "fixtures" / "defects" / "opgate.toml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=1800) in (0, -signal.SIGPIPE)
