"""Five mistakes in three operators are few defects in few lines, from tests that see none of them."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, Results, read_results

pytestmark = pytest.mark.long

TESTS = """
import torch

torch.ops.load_library("./libfive_mistakes.so")
operators = torch.ops.five_mistakes


def test_weigh_rows():
    x, w = torch.rand(5, 6), torch.rand(6)
    torch.testing.assert_close(operators.weigh_rows(x, w), x * w)


def test_weigh_and_shift():
    x, w = torch.rand(5, 6), torch.rand(6)
    torch.testing.assert_close(operators.weigh_and_shift(x, w, 0.5), x * w + 0.5 * x)


def test_pick_rows():
    table = torch.rand(7, 4)
    torch.testing.assert_close(operators.pick_rows(table, torch.tensor([3, 0, -1, 3])), table[[3, 0, -1, 3]])
"""


@pytest.fixture(scope="module")
def folder(opgate: OpGate, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library and its recorded tests."""
    folder = tmp_path_factory.mktemp("five mistakes")
    shutil.copy(build / "lib" / "libopgate_five_mistakes.so", folder / "libfive_mistakes.so")
    (folder / "test_five.py").write_text(TESTS)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_five.py"]
    recorded = opgate("record", "--", *tests, folder=folder)
    assert (recorded.returncode, "3 passed" in recorded.stdout) == (0, True), recorded
    return folder


@pytest.fixture(scope="module")
def finished(opgate: OpGate, folder: Path) -> tuple[Completed, Results]:
    run = opgate("run", folder=folder)
    return run, read_results(folder / ".opgate")


def test_each_mistake_is_one_defect(finished: tuple[Completed, Results]) -> None:
    run, results = finished
    assert run.returncode == 1
    found = [(defect["defect"], defect.get("callers", {}).keys()) for defect in results.defects]
    assert sorted(name for name, _ in found) == [
        "pick_rows/cpu/mutation/index",
        "weigh_and_shift/cpu/layout/x",
        "weigh_rows/cpu/crash/SIGSEGV in five_mistakes::weigh_rows",
        "weigh_rows/cpu/fake kernel",
    ], run.stdout
    # The index is not checked, either. That is a note, because the tests do not say that it must be.
    assert "pick_rows: `index` is not checked" in run.stdout


def test_a_caller_is_named_with_the_defect_of_what_it_calls(finished: tuple[Completed, Results]) -> None:
    run, results = finished
    callers = {defect["defect"]: set(defect["callers"]) for defect in results.defects if "callers" in defect}
    assert callers == {"weigh_rows/cpu/crash/SIGSEGV in five_mistakes::weigh_rows": {"weigh_and_shift"}}
    assert re.search(r"^ {3}also +weigh_and_shift \(\d+ cases?\), which calls it$", run.stdout, re.M)


def test_a_user_reads_at_most_sixty_lines(finished: tuple[Completed, Results]) -> None:
    run, _ = finished
    assert len(run.stdout.splitlines()) <= 60, run.stdout


def test_the_reports_lead_from_a_caller_to_the_defect_of_what_it_calls(
    finished: tuple[Completed, Results], folder: Path, opgate: OpGate
) -> None:
    run, _ = finished
    assert run.returncode == 1
    written = opgate("report", "--html", "page.html", "--junit", "junit.xml", folder=folder)
    assert (written.returncode, written.stderr) == (0, "")
    page = (folder / "page.html").read_text()
    assert "also       weigh_and_shift, by calling it" in page
    assert "No result was compared with a reference, because no spec has one." in page
    junit = (folder / "junit.xml").read_text()
    assert re.search(r'classname="weigh_and_shift[^>]*name="error.raises[^>]*>\s*<(error|failure)', junit), (
        junit
    )
