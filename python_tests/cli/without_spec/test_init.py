"""opgate init: a first spec for each operator of a namespace, which runs as it is."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

pytestmark = pytest.mark.long

CALLS = """
import torch
torch.ops.load_library("libseen.so")
torch.ops.seen.blind(torch.ones(4, 6))
torch.ops.seen.pick(torch.rand(4, 6), torch.tensor([3, 0, 3]), [0.5])
"""


@pytest.fixture
def folder(seen_library: Path, tmp_path: Path) -> Path:
    place = tmp_path / "a user's folder"
    place.mkdir()
    shutil.copy(seen_library, place / "libseen.so")
    return place


@pytest.fixture(scope="module")
def first(
    seen_library: Path, opgate: OpGate, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Completed, Path]:
    """What `opgate init` printed for the library alone, and the folder where it wrote; tests copy it."""
    place = tmp_path_factory.mktemp("first specs") / "a user's folder"
    place.mkdir()
    shutil.copy(seen_library, place / "libseen.so")
    return opgate("init", "seen", "--library", "libseen.so", folder=place), place


@pytest.fixture
def with_specs(first: tuple[Completed, Path], tmp_path: Path) -> Path:
    """A folder for which `opgate init` wrote specs from schemas alone."""
    return shutil.copytree(first[1], tmp_path / "a folder with specs")


def test_specs_from_schemas_alone_run(
    first: tuple[Completed, Path], with_specs: Path, opgate: OpGate
) -> None:
    result, folder = first[0], with_specs
    assert result.returncode == 0, result
    assert "seen::blind  a guessed sample" in result.stdout
    assert "seen::pick   in comments: no arguments are known that it accepts" in result.stdout
    spec = (folder / "opgate_specs" / "blind.py").read_text()
    assert "# seen::blind(Tensor x, float factor=2.) -> Tensor" in spec
    assert "spec.draft()" in spec
    assert "? guessed, and accepted" in spec
    commented = (folder / "opgate_specs" / "pick.py").read_text()
    assert "no guess was accepted; the last: " in " ".join(commented.split("\n# "))
    assert '# @opgate.spec("seen::pick")' in commented
    run = opgate("run", "--check", "value", "effect", "fake.metadata", folder=folder)
    assert run.returncode == 1, run
    results = read_results(folder / ".opgate")
    assert results.failing_checks("blind") == {"value.layout", "value.index64"}, run.stdout
    assert results.of("pick") == {}


def test_specs_from_recorded_calls_run(folder: Path, opgate: OpGate) -> None:
    assert opgate("record", "--", sys.executable, "-c", CALLS, folder=folder).returncode == 0
    result = opgate("init", "seen", "--into", "specs", folder=folder)
    assert result.returncode == 0, result
    assert "seen::pick   1 recorded sample" in result.stdout
    text = (folder / "opgate.toml").read_text()
    assert 'python = ["specs"]' in text
    assert 'python_path = ["."]' in text
    spec = (folder / "specs" / "pick.py").read_text()
    assert "opgate.values([3, 0, 3], shape=(3,)).of(torch.int64)" in spec
    assert re.search(r"opgate\.uniform\(4, 6, low=0\.\d+, high=0\.\d+\)", spec)  # its values do not matter
    blind = (folder / "specs" / "blind.py").read_text()
    assert "opgate.values([1] * 24, shape=(4, 6))" in blind
    assert 'spec.trusts("rows")' in spec
    run = opgate("run", "--op", "pick", "--check", "value", "effect", "memory", "error", folder=folder)
    assert run.returncode == 0, run
    # The author fills in the answers, and the draft becomes a spec.
    answered = spec.replace(
        "    # spec.reference(lambda x, rows, weights: ...)", "    spec.reference(picked)"
    )
    answered = answered.replace("    # spec.accuracy(opgate.ulps(4))", "    spec.accuracy(opgate.ulps(1))")
    answered = answered.replace(
        "@opgate", "def picked(x, rows, weights):\n    return x[rows] * weights[0]\n\n\n@opgate"
    )
    (folder / "specs" / "pick.py").write_text(answered)
    run = opgate("run", "--op", "pick", "--check", "value.reference", folder=folder)
    assert run.returncode == 0, run
    assert {case.rpartition("/")[2] for case in read_results(folder / ".opgate").of("pick")} == {
        "value.reference"
    }


def test_what_is_there_is_kept(with_specs: Path, opgate: OpGate) -> None:
    folder = with_specs
    mine = folder / "opgate_specs" / "blind.py"
    mine.write_text("# mine\n")
    again = opgate("init", "seen", folder=folder)
    assert again.returncode == 0, again
    assert "seen::blind  has a file already, which is kept" in again.stdout
    assert mine.read_text() == "# mine\n"
    assert (folder / "opgate.toml").read_text().count("opgate_specs") == 1


def test_a_namespace_without_operators_is_told(folder: Path, opgate: OpGate) -> None:
    result = opgate("init", "scene", "--library", "libseen.so", folder=folder)
    said = assert_refused(
        result, "no operator of scene is registered by the libraries and modules that are loaded"
    )
    assert "seen" in said.partition("there are operators of")[2]


def test_what_defines_them_must_be_said(folder: Path, opgate: OpGate) -> None:
    assert_refused(
        opgate("init", "seen", folder=folder), "--library FILE or --python MODULE", "opgate record"
    )


def test_a_library_that_needs_a_gpu_to_be_imported_is_told(folder: Path, opgate: OpGate) -> None:
    (folder / "only_gpu.py").write_text("raise RuntimeError('No CUDA GPUs are available')\n")
    (folder / "opgate.toml").write_text('python = ["only_gpu"]\npython_path = ["."]\n')
    said = "Python module only_gpu cannot be imported: RuntimeError: No CUDA GPUs are available"
    assert_refused(opgate("init", "seen", folder=folder), said)
    assert_refused(opgate("run", folder=folder), said)


def test_a_folder_that_is_no_python_name_is_told(folder: Path, opgate: OpGate) -> None:
    result = opgate("init", "seen", "--library", "libseen.so", "--into", "my specs", folder=folder)
    assert_refused(result, "'my specs' is not a valid package name")


def test_what_its_author_has_written_stays_as_it_is(folder: Path, opgate: OpGate) -> None:
    text = (
        'libraries = ["./libseen.so"]\npython = [\n  "json",  # for nothing\n]\n'
        '\n[environment]  # of workers\nSEEN_FEW = "1"\n'
    )
    (folder / "opgate.toml").write_text(text)
    result = opgate("init", "seen", folder=folder)
    assert result.returncode == 0, result
    assert (folder / "opgate.toml").read_text() == text.replace(
        "# for nothing\n]\n", '# for nothing\n  "opgate_specs",\n]\npython_path = ["."]\n'
    )
