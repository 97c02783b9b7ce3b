"""Right operators that some check once accused, each beside a wrong one of its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import opgate as opgate_package
import pytest
import torch
from harness import OpGate, Results, read_results

OPERATORS = """
import opgate
import torch


# Draws from the generator: only the seed decides.
@torch.library.custom_op("accused::jitter", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def jitter(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * (1 + by * torch.randn(x.shape, dtype=x.dtype))).contiguous()


@jitter.register_fake
def _(x, by):
    return x.new_empty(x.shape)


# The same, where a compiler sees ATen's operators.
pieces = torch.library.Library("accused", "FRAGMENT")
pieces.define("thinned(Tensor x) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
pieces.impl(
    "thinned", lambda x: (x * torch.rand(x.shape, dtype=x.dtype)).contiguous(), "CompositeImplicitAutograd"
)


# Says so, and has a generator of its own that begins anew in each call.
@torch.library.custom_op("accused::frozen", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def frozen(x: torch.Tensor) -> torch.Tensor:
    own = torch.Generator().manual_seed(5)
    return (x + torch.rand(x.shape, dtype=x.dtype, generator=own)).contiguous()


@frozen.register_fake
def _(x):
    return x.new_empty(x.shape)


# Reads an argument, and writes it.
@torch.library.custom_op("accused::smooth", mutates_args=("kept",))
def smooth(x: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    kept.mul_(0.5).add_(x, alpha=0.5)
    return kept.clone(memory_format=torch.contiguous_format)


@smooth.register_fake
def _(x, kept):
    torch._check(x.shape == kept.shape)
    return x.new_empty(x.shape)


# Saves a result of its own, which nobody may then write.
@torch.library.custom_op("accused::logistic", mutates_args=())
def logistic(x: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x).contiguous()


@logistic.register_fake
def _(x):
    return x.new_empty(x.shape)


def backward(ctx, grad):
    (y,) = ctx.saved_tensors
    return grad * y * (1 - y)


logistic.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))


# Their code is ATen's, which a compiler sees in place of them, and rounds otherwise by 1 ulp.
def mish(x):
    return (x * torch.tanh(torch.log1p(torch.exp(x)))).contiguous()


pieces.define("mish(Tensor x) -> Tensor")
pieces.impl("mish", mish, "CPU")
pieces.impl("mish", lambda x: x.new_empty(x.shape), "Meta")
pieces.impl("mish", mish, "AutogradCPU")
pieces.define("swish(Tensor x) -> Tensor")
pieces.impl("swish", lambda x: (x * torch.sigmoid(x)).contiguous(), "CompositeImplicitAutograd")


# Computes something else where it is traced.
def traced(x):
    return (x * torch.sigmoid(x) * (1.001 if type(x) is not torch.Tensor else 1)).contiguous()


pieces.define("traced(Tensor x) -> Tensor")
pieces.impl("traced", traced, "CompositeImplicitAutograd")


def draft(name, *arguments, **settings):
    @opgate.spec(name)
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft()
        spec.sample(*arguments)


draft("accused::jitter", opgate.uniform(3, 4), 0.25)
draft("accused::thinned", opgate.uniform(3, 4))
draft("accused::frozen", opgate.uniform(3, 4))
draft("accused::smooth", opgate.uniform(3, 4), opgate.uniform(3, 4))
draft("accused::mish", opgate.uniform(30, 40))
draft("accused::swish", opgate.uniform(30, 40))
draft("accused::traced", opgate.uniform(30, 40))


@opgate.spec("accused::logistic")
def promise(spec):
    spec.dtypes(torch.float32, torch.float64, device="cpu").accuracy(opgate.ulps(8))
    spec.reference(torch.sigmoid).promises("differentiable").sample(opgate.uniform(3, 4))
"""


@pytest.fixture(scope="module")
def project(new_project: Callable[..., Path]) -> Path:
    folder = new_project(python=["accused_operators"], python_path=["."])
    (folder / "accused_operators.py").write_text(OPERATORS)
    return folder


@pytest.fixture(scope="module")
def results(opgate: OpGate, project: Path) -> Results:
    ran = opgate("run", "--check", "aoti", "compile", "export", "effect", "grad", folder=project)
    assert ran.returncode == 1, ran.stdout + ran.stderr  # because of `traced` alone
    found = read_results(project / ".opgate")
    failed = {case for case, line in found.cases.items() if line["verdict"] == "fail"}
    assert all(case.startswith("traced/") for case in failed), failed
    return found


def verdicts(results: Results, op: str, check: str) -> set[str]:
    """What the check gave for the calls of the operator that could be judged."""
    cases = results.of(op).items()
    return {line["verdict"] for case, line in cases if case.endswith(f"/{check}")} - {"owed"}


@pytest.mark.long
@pytest.mark.parametrize("check", ["aoti.python", "aoti.dynamic", "compile.equal", "export.graph"])
@pytest.mark.parametrize("op", ["jitter", "smooth", "mish", "swish"])
def test_no_check_that_calls_twice_accuses_them(results: Results, op: str, check: str) -> None:
    assert verdicts(results, op, check) == {"pass"}


@pytest.mark.long
@pytest.mark.parametrize("check", ["aoti.python", "aoti.dynamic"])
def test_pieces_are_compared_all_the_same(results: Results, check: str) -> None:
    assert verdicts(results, "traced", check) == {"fail"}


@pytest.mark.long
def test_the_tag_of_random_operators_suffices(opgate: OpGate, project: Path) -> None:
    ran = opgate("run", "--op", "jitter", "thinned", "--output", str(project / "all"), folder=project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    asked = {case.rpartition("/")[2] for case in read_results(project / "all").cases}
    assert asked >= {"aoti.python", "error.raises", "memory.lifetime", "value.alignment", "value.layout"}


def test_an_operator_that_only_says_that_it_draws_is_noted(results: Results) -> None:
    notes = {op: [line.get("reason", "") for line in results.of(op).values()] for op in ("jitter", "frozen")}
    assert any("draw nothing from the default generator" in note for note in notes["frozen"])
    assert not any("draw nothing" in note for note in notes["jitter"])


def test_a_derivative_that_raises_leaves_nothing_behind(results: Results) -> None:
    judged = {case.rpartition("/")[2]: line["verdict"] for case, line in results.of("logistic").items()}
    assert judged["grad.saved"] == judged["grad.reference"] == "pass"
    assert set(judged.values()) <= {"pass", "owed"}


def test_an_operator_that_takes_no_double_is_its_own_reference_nowhere() -> None:
    library = torch.library.Library("accused_by_check", "DEF")
    library.define("halve(Tensor x) -> Tensor")

    def halve(x: torch.Tensor) -> torch.Tensor:
        if x.dtype != torch.float32:
            raise RuntimeError(f"halve: x must be Float, not {x.dtype}")
        return (x / 2).contiguous()

    library.impl("halve", halve, "CPU")
    library.impl("halve", lambda x: x.new_empty(x.shape), "Meta")
    opgate_package.check(torch.ops.accused_by_check.halve, (torch.randn(3, 4),))
    library.impl("halve", lambda x: halve(x).t().contiguous().t(), "CPU", allow_override=True)
    with pytest.raises(AssertionError, match=r"fake\.metadata"):
        opgate_package.check(torch.ops.accused_by_check.halve, (torch.randn(3, 4),))


EDITED = """
import opgate
import torch

library = torch.library.Library("edited", "FRAGMENT")
library.define("cubed(Tensor x) -> Tensor")
library.impl("cubed", lambda x: FACTOR * x * x * x, "CPU")
library.impl("cubed", lambda x: torch.empty_like(x), "Meta")
library.impl("cubed", lambda x: FACTOR * x * x * x, "AutogradCPU")


@opgate.spec("edited::cubed")
def promise(spec):
    spec.dtypes(torch.float32, device="cpu").draft().promises("differentiable")
    spec.sample(opgate.uniform(6, 7))
"""


@pytest.mark.exhaustive
def test_what_was_compiled_before_an_edit_is_not_taken_for_the_operator(
    opgate: OpGate, tmp_path: Path
) -> None:
    """torch keeps traced graphs on disk by the names of operators, and not by what these compute."""
    (tmp_path / "opgate.toml").write_text('python = ["mod"]\npython_path = ["."]\n')
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    for factor in ("2", "3"):
        (tmp_path / "mod.py").write_text(EDITED.replace("FACTOR", factor))
        run = opgate("run", "--check", "compile.equal", folder=tmp_path, environment=cache)
        assert (run.returncode, "1 passed" in run.stdout) == (0, True), run.stdout


REFUSING = """
import opgate
import torch


# Refuses by exceptions that are no RuntimeError, as code in Python does.
@torch.library.custom_op("refusing::halves", mutates_args=())
def halves(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] % 2:
        raise ValueError(f"x must have an even number of rows, got {x.shape[0]}")
    assert x.is_contiguous(), "x must be contiguous"
    return x[: x.shape[0] // 2] + x[x.shape[0] // 2 :]


@halves.register_fake
def _(x):
    return x.new_empty((x.shape[0] // 2, x.shape[1]))


# torch itself registers two kernels for it, one over the other.
@torch.library.custom_op("refusing::scale_", mutates_args=("x",))
def scale_(x: torch.Tensor, by: float) -> None:
    x.mul_(by)


@scale_.register_fake
def _(x, by):
    return None


def draft(name, *arguments):
    @opgate.spec(name)
    def promise(spec):
        spec.dtypes(torch.float32, device="cpu").draft()
        spec.sample(*arguments)


draft("refusing::halves", opgate.uniform(6, 4))
draft("refusing::scale_", opgate.uniform(3, 4), 0.5)
"""


@pytest.mark.long
def test_operators_that_refuse_by_exceptions_of_python_are_not_accused(
    opgate: OpGate, tmp_path: Path
) -> None:
    (tmp_path / "opgate.toml").write_text('python = ["mod"]\npython_path = ["."]\n')
    (tmp_path / "mod.py").write_text(REFUSING)
    run = opgate(
        "run", "--check", "aoti", "compile", "export", "fake", "opcheck", "registration", folder=tmp_path
    )
    assert run.returncode == 0, run.stdout
    assert "the spec:" not in run.stdout
