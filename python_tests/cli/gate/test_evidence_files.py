"""Evidence follows the files that the compiler read: also headers outside of the folder of the operator."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gpu_runs import as_on_gpu, keep, of_cuda
from harness import OpGate, assert_refused

RUN = ["run", "--check", "value.dtype"]
FOLDER_RULE = "evidence follows the folder of the operator and `sources` only"
READ = "inc/wide reduce.cuh"  # read for the operator
UNREAD = "inc/unread.cuh"  # read for another object


@pytest.fixture(scope="module")
def template(build: Path, new_project: Callable[..., Path]) -> Path:
    """A project with a build of its own, and with two headers that are in no operator's folder."""
    names = ["libopgate_ops.so", "libopgate_identity_specs.so"]
    project = new_project(libraries=[f"build/{names[0]}"], specs=[f"build/{names[1]}"], evidence="evidence")
    (project / "build").mkdir()
    for name in names:
        shutil.copy(build / "lib" / name, project / "build")
    for header in (READ, UNREAD):
        write(project / header, "#define WIDTH 4\n")
    return project


@pytest.fixture
def project(template: Path, tmp_path: Path, has_gpu: bool) -> Path:
    """A copy of the project for one test."""
    if has_gpu:
        pytest.skip("the cuda cases run here")
    return shutil.copytree(template, tmp_path / "a copy")


@pytest.fixture(scope="module")
def kernel(source: Path) -> Path:
    """A source in the folder of the operator."""
    return source / "ops" / "identity_conv" / "cuda.cu"


@pytest.fixture(scope="module")
def ninja() -> Path:
    """The program, which builds this project, too."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which("ninja", path=places)
    assert found, "ninja is needed to build the project, and is not on the path"
    return Path(found)


def write(file: Path, text: str) -> None:
    """Makes a file older than the libraries, because a newer one would not be in them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (0, 0))


def escaped(path: str | Path) -> str:
    return str(path).replace(" ", "\\ ")


def write_makefile_rules(project: Path, kernel: Path) -> None:
    """What nvcc leaves in a build by make: paths relative to where it ran, which is not where the file is."""
    write(
        project / "build" / "obj" / "conv.d",
        f"build/obj/conv.o : {escaped(kernel)} \\\n    {escaped(READ)}\n",
    )
    write(project / "csrc" / "other.cu", "")
    write(project / "build" / "obj" / "other.d", f"build/obj/other.o : csrc/other.cu \\\n    {UNREAD}\n")


def run_ninja(project: Path, ninja: Path, dependencies: str) -> None:
    """Builds an object with ninja, which takes over these dependencies in the folder `build`."""
    folder = project / "build"
    (folder / "build.ninja").write_text(
        "rule compile\n  command = cp rule.d $out.d && touch $out\n  depfile = $out.d\n  deps = gcc\n"
        "build conv.o: compile\n"
    )
    (folder / "rule.d").write_text(f"conv.o: {dependencies}\n")
    subprocess.run([ninja], cwd=folder, check=True, capture_output=True)
    (folder / "rule.d").unlink()
    assert (folder / ".ninja_deps").exists()
    assert not list(folder.glob("*.d")), "ninja keeps dependencies in its own file only"


def run_on_gpu(opgate: OpGate, project: Path, environment: dict[str, str] | None = None) -> str:
    """Runs, and keeps the results as if they were from a GPU. Returns what `opgate evidence` says."""
    assert opgate(*RUN, folder=project, environment=environment).returncode == 0
    return keep(opgate, project, as_on_gpu(project))


def reasons_here(opgate: OpGate, project: Path) -> set[str]:
    """The reasons of owed cases in a run without a GPU and without any folder of a build."""
    for file in (project / "build").iterdir():
        if file.suffix != ".so":
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert opgate(*RUN, folder=project).returncode == 0
    return {line["reason"] for line in of_cuda(project) if line["verdict"] == "owed"}


def evidence_of(project: Path) -> str:
    return (project / "evidence" / "identity_conv.toml").read_text()


def assert_follows(opgate: OpGate, project: Path) -> None:
    """Expects evidence to end with a change of READ, and not with one of UNREAD."""
    assert f'"{READ}" = "' in evidence_of(project)
    assert UNREAD not in evidence_of(project)
    assert not reasons_here(opgate, project)
    write(project / UNREAD, "#define WIDTH 8\n")
    assert not reasons_here(opgate, project)
    write(project / READ, "#define WIDTH 8\n")
    (reason,) = reasons_here(opgate, project)
    assert reason.endswith(f"; evidence: NVIDIA H200 is out of date: {READ} has changed")


def test_headers_are_followed_that_a_makefile_names(opgate: OpGate, project: Path, kernel: Path) -> None:
    write_makefile_rules(project, kernel)
    assert "note" not in run_on_gpu(opgate, project)
    assert_follows(opgate, project)


def test_headers_are_followed_that_ninja_names(
    opgate: OpGate, project: Path, kernel: Path, ninja: Path
) -> None:
    run_ninja(project, ninja, f"{escaped(kernel)} {escaped('../' + READ)}")
    environment = {"PATH": f"{ninja.parent}{os.pathsep}{os.environ['PATH']}"}
    assert "note" not in run_on_gpu(opgate, project, environment)
    assert (project / "build" / ".ninja_deps").exists(), "reading must leave the build as it is"
    assert_follows(opgate, project)


def test_a_header_that_is_gone_is_named(opgate: OpGate, project: Path, kernel: Path) -> None:
    write_makefile_rules(project, kernel)
    run_on_gpu(opgate, project)
    (project / READ).unlink()
    (reason,) = reasons_here(opgate, project)
    assert reason.endswith(f": {READ} is missing")


def test_a_build_without_dependencies_is_told(opgate: OpGate, project: Path) -> None:
    said = run_on_gpu(opgate, project)
    gap = f"no dependency files (.ninja_deps, *.d) were found in build/: {FOLDER_RULE}"
    assert f"note       identity_conv: {gap}\n" in said
    assert gap in evidence_of(project)
    assert not reasons_here(opgate, project), "the rule of folders stands"
    write(project / READ, "#define WIDTH 8\n")
    assert not reasons_here(opgate, project), "nothing says that the compiler read it"


def test_a_machine_without_ninja_is_told(opgate: OpGate, project: Path, kernel: Path, ninja: Path) -> None:
    run_ninja(project, ninja, escaped(kernel))
    said = run_on_gpu(opgate, project, {"PATH": "/nowhere"})
    assert "build/.ninja_deps cannot be read, because there is no `ninja` on the path; install it" in said
    assert FOLDER_RULE in evidence_of(project)


def test_a_ninja_that_fails_is_told(opgate: OpGate, project: Path, kernel: Path, ninja: Path) -> None:
    run_ninja(project, ninja, escaped(kernel))
    (project / "build" / "build.ninja").write_text("?\n")
    environment = {"PATH": f"{ninja.parent}{os.pathsep}{os.environ['PATH']}"}
    said = run_on_gpu(opgate, project, environment)
    assert "`ninja -n -t deps` in build/ ended with exit status 1 (ninja: error: build.ninja:1: " in said
    assert FOLDER_RULE in evidence_of(project)


def test_a_header_that_was_not_built_gives_no_evidence(opgate: OpGate, project: Path, kernel: Path) -> None:
    write_makefile_rules(project, kernel)
    newest = max(file.stat().st_mtime for file in (project / "build").glob("*.so"))
    os.utime(project / READ, (newest + 1, newest + 1))
    assert opgate(*RUN, folder=project).returncode == 0
    result = opgate("evidence", "--results", as_on_gpu(project), folder=project)
    assert_refused(result, "has no check that passed on a GPU")
    assert (
        f"left out   identity_conv: changed or removed after the build, so build and run again: {READ}"
        in (result.stdout)
    )


def test_a_header_older_than_one_library_was_built(opgate: OpGate, project: Path, kernel: Path) -> None:
    """After a change of a spec alone only the library of the specs is linked again."""
    write_makefile_rules(project, kernel)
    os.utime(project / "build" / "libopgate_ops.so", (0, 0))
    os.utime(project / READ, (1, 1))
    run_on_gpu(opgate, project)
    assert not reasons_here(opgate, project)


def test_evidence_of_an_older_version_is_owed_again(opgate: OpGate, project: Path, kernel: Path) -> None:
    write_makefile_rules(project, kernel)
    run_on_gpu(opgate, project)
    file = project / "evidence" / "identity_conv.toml"
    before, _, rest = file.read_text().partition("[cuda.files_read]")
    file.write_text(before + rest[rest.index("[cuda.checks]") :])
    (reason,) = reasons_here(opgate, project)
    assert "an older OpGate wrote it, without all that it depends on" in reason
