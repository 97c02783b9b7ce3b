"""AOTInductor packages: made once, run in C++ without Python, and refused if they were changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import Completed, OpGate, assert_refused, read_results

pytestmark = pytest.mark.long

PACKAGED = ("identity_conv", "IdentityModel")

OPCHECK = """
import sys, torch
torch.ops.load_library(sys.argv[1])
op = torch.ops.opgate_versions.scale.default
print(op._schema, torch.library.opcheck(op, (torch.ones(4, 8), 3.0)))
"""


@pytest.fixture(scope="module")
def libraries(build: Path) -> Path:
    return build / "lib"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("of identity_conv")


def run_aoti(opgate: OpGate, config: Path, output: Path, *operators: str) -> Completed:
    """`opgate run` of all that is packaged of the operators, or of all, for the CPU."""
    words = ["--check", "aoti", "--device", "cpu", "--output", output]
    if operators:
        words += ["--op", *operators]
    return opgate("run", "--config", config, *words, timeout=1800)


@pytest.fixture(scope="module")
def made(opgate: OpGate, source: Path, output: Path) -> Completed:
    """The run that makes the package of identity_conv and IdentityModel."""
    return run_aoti(opgate, source / "opgate.toml", output, *PACKAGED)


def only_package(folder: Path) -> Path:
    """The one .pt2 in an output folder."""
    (package,) = (folder / "packages").glob("*.pt2")
    return package


@pytest.fixture(scope="module")
def package(made: Completed, output: Path) -> Path:
    return only_package(output)


@pytest.fixture(scope="module")
def version_1(opgate: OpGate, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that was made with version 1 of a library."""
    output = tmp_path_factory.mktemp("versions")
    run = run_aoti(opgate, source / "fixtures" / "versions" / "opgate.toml", output)
    assert run.returncode == 0, run
    return only_package(output)


def test_every_packaged_case_passes(made: Completed, output: Path) -> None:
    results = read_results(output)
    assert (made.returncode, results.finished is not None) == (0, True), made
    assert {line["verdict"] for line in results.cases.values()} == {"pass"}
    checks = {case.rpartition("/")[2] for case in results.cases}
    in_cpp = {"aoti.cpp", "aoti.cross", "aoti.refuses", "aoti.threads"}
    assert checks == in_cpp | {"aoti.dynamic", "aoti.python"}
    assert {case.split("/")[0] for case in results.cases} == set(PACKAGED)


def test_the_package_runs_by_hand_and_agrees_in_every_call(
    opgate: OpGate, package: Path, libraries: Path, output: Path
) -> None:
    result = opgate("aoti", package, "--library", libraries / "libopgate_ops.so")
    assert (result.returncode, result.stderr) == (0, "")
    first, *calls, last = result.stdout.splitlines()
    assert first.startswith(str(package))
    assert "without Python" in first
    planned = {case.rpartition("/")[0] for case in read_results(output).cases}
    assert {line.split()[1] for line in calls} == planned
    assert all(re.match(r"ok   \S+  equals eager (C\+\+ and eager )?Python$", line) for line in calls)
    assert last == f"{len(planned)} of {len(planned)} calls agree"


def test_without_its_library_the_operator_is_named(opgate: OpGate, package: Path) -> None:
    assert_refused(opgate("aoti", package), "opgate_ops::identity_conv", "--library", str(package))


def test_the_run_maps_no_python(opgate: OpGate, package: Path, libraries: Path) -> None:
    library = libraries / "libopgate_ops.so"
    result = opgate("aoti", package, "--library", library, environment={"LD_DEBUG": "files"})
    assert result.returncode == 0
    loaded = {Path(name).name for name in re.findall(r"file=(.+) \[0\];  generating link map", result.stderr)}
    assert {"libtorch_cpu.so", "libopgate_ops.so"} <= loaded, "LD_DEBUG told nothing"
    assert [name for name in loaded if name.startswith(("libpython", "libtorch_python"))] == []


def test_without_input_checks_a_package_fails(
    opgate: OpGate, source: Path, made: Completed, output: Path, tmp_path: Path
) -> None:
    """Given another dtype, a package may read beyond the tensor and crash: only its own case may fail."""
    copied = tmp_path / "output"
    shutil.copytree(output, copied)
    run = opgate(
        "run",
        "--config",
        source / "opgate.toml",
        *("--op", *PACKAGED, "--check", "aoti", "--device", "cpu", "--output", copied),
        environment={"AOTI_RUNTIME_CHECK_INPUTS": "0"},
        timeout=1800,
    )
    assert run.returncode == 1, run
    verdicts = {case: line["verdict"] for case, line in read_results(copied).cases.items()}
    refuses = {case: verdict for case, verdict in verdicts.items() if case.endswith("/aoti.refuses")}
    assert refuses
    assert set(refuses.values()) <= {"fail", "crash"}
    assert {verdict for case, verdict in verdicts.items() if case not in refuses} == {"pass"}


def test_a_second_run_compiles_nothing(opgate: OpGate, source: Path, package: Path, output: Path) -> None:
    before = package.stat()
    assert run_aoti(opgate, source / "opgate.toml", output, *PACKAGED).returncode == 0
    after = only_package(output).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("kept", [0.99, 0.5, 0.01])
def test_a_truncated_package_is_refused(
    kept: float, opgate: OpGate, package: Path, libraries: Path, tmp_path: Path
) -> None:
    whole = package.read_bytes()
    cut = tmp_path / "cut.pt2"
    cut.write_bytes(whole[: int(len(whole) * kept)])
    result = opgate("aoti", cut, "--library", libraries / "libopgate_ops.so")
    assert result.stdout == ""
    assert_refused(result, str(cut), "truncated")


def test_a_package_with_a_flipped_byte_is_not_taken_for_the_one_that_was_made(
    opgate: OpGate, source: Path, package: Path, output: Path, tmp_path: Path
) -> None:
    """The next run finds the file by its name again, and must not trust it."""
    copied = tmp_path / "output"
    shutil.copytree(output, copied)
    altered = only_package(copied)
    content = bytearray(altered.read_bytes())
    content[len(content) // 2] ^= 1
    altered.write_bytes(content)
    run = run_aoti(opgate, source / "opgate.toml", copied, *PACKAGED)
    made_anew = only_package(copied).read_bytes() != bytes(content)
    assert made_anew or (run.returncode == 1 and "is not the file that was made" in run.stdout)


@pytest.mark.exhaustive
def test_the_package_runs_with_the_version_it_was_made_with(
    opgate: OpGate, version_1: Path, libraries: Path
) -> None:
    result = opgate("aoti", version_1, "--library", libraries / "libopgate_version_1.so")
    assert (result.returncode, result.stderr) == (0, "")
    found = re.fullmatch(r"(\d+) of (\d+) calls agree", result.stdout.splitlines()[-1])
    assert found is not None
    assert found[1] == found[2] != "0"


def test_another_version_is_told_by_both_schemas_and_not_run(
    opgate: OpGate, version_1: Path, libraries: Path
) -> None:
    result = opgate("aoti", version_1, "--library", libraries / "libopgate_version_2.so")
    assert (result.returncode, result.stderr) == (1, "")
    assert "FAIL another library version: opgate_versions::scale" in result.stdout
    assert (
        "opgate_versions::scale(Tensor x, float factor) -> Tensor when the package was made" in result.stdout
    )
    assert "scale(Tensor x, float factor, float bias=1." in result.stdout
    assert "not run" in result.stdout
    assert "ok " not in result.stdout


def test_opcheck_does_not_see_the_other_version(libraries: Path, tmp_path: Path) -> None:
    library = libraries / "libopgate_version_2.so"
    checked = subprocess.run(
        [sys.executable, "-c", OPCHECK, str(library)],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )
    assert "float bias=1." in checked.stdout
    assert set(re.findall(r"'test_\w+': '(\w+)'", checked.stdout)) == {"SUCCESS"}


def test_the_folder_says_which_packages_are_in_use(package: Path, output: Path) -> None:
    state = json.loads((output / "packages" / "cpu.json").read_text())
    assert [made["file"] for made in state["packages"]] == [package.name]
    assert state["left_out"] == {}
