"""opgate gate and opgate accept refuse results of other libraries than those that are there."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import OpGate, assert_refused, read_results

WORDS = ["--check", "registration", "--op", "scale.twice", "--jobs", "1"]


@pytest.fixture
def project(build: Path, tmp_path: Path) -> Path:
    """A project with a copy of the library of fixtures/changes, in a folder with a space in its name."""
    folder = tmp_path / "my project"
    folder.mkdir()
    shutil.copy(build / "lib" / "libopgate_changes.so", folder)
    (folder / "opgate.toml").write_text('libraries = ["libopgate_changes.so"]\nledger = "ledger"\n')
    return folder


def run(opgate: OpGate, project: Path) -> None:
    result = opgate("run", *WORDS, folder=project)
    assert result.returncode == 0, result


def append(file: Path, text: str) -> None:
    """Another build of the file; an ELF file may have anything at its end."""
    with file.open("ab") as stream:
        stream.write(text.encode())


def test_results_of_another_build_are_refused(opgate: OpGate, project: Path) -> None:
    run(opgate, project)
    (project / "ledger").mkdir()
    append(project / "libopgate_changes.so", "another build")
    said = ["results.jsonl (run of ", "is out of date", "libopgate_changes.so", "run `opgate run` again"]
    assert_refused(opgate("gate", "--results", ".opgate/results.jsonl", folder=project), *said)
    assert_refused(opgate("accept", folder=project), *said)


def test_a_build_of_the_same_size_and_time_is_another(opgate: OpGate, project: Path, build: Path) -> None:
    """Digests of large files are kept, but not beyond a change of the file."""
    library = project / "libopgate_changes.so"
    digests = []
    for flags in (b"\1", b"\2"):  # of its ELF header, which mean nothing on x86-64
        times = library.stat()
        with library.open("r+b") as stream:
            stream.seek(48)
            stream.write(flags)
        os.utime(library, ns=(times.st_atime_ns, times.st_mtime_ns))
        run(opgate, project)
        header = read_results(project / ".opgate").header
        digests.append(header["files"][str(library)])
        assert digests[-1] == hashlib.sha1(library.read_bytes()).hexdigest()
        assert header["engine"] == hashlib.sha1((build / "lib" / "libopgate.so").read_bytes()).hexdigest()
    assert digests[0] != digests[1]


def test_results_that_lack_a_library_are_refused(opgate: OpGate, project: Path, build: Path) -> None:
    run(opgate, project)
    shutil.copy(build / "lib" / "libopgate_crashy.so", project)
    (project / "opgate.toml").write_text(
        'libraries = ["libopgate_changes.so", "libopgate_crashy.so"]\nledger = "ledger"\n'
    )
    assert_refused(opgate("accept", folder=project), "has no results of ", "libopgate_crashy.so")


def test_results_of_the_same_build_elsewhere_are_taken(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    """As with results that came from another machine."""
    run(opgate, project)
    shutil.move(project, tmp_path / "moved")
    result = opgate("accept", folder=tmp_path / "moved")
    assert "is out of date" not in result.stderr
    assert_refused(result, "has only some checks")


def test_a_library_that_a_listed_one_loads_counts(opgate: OpGate, project: Path) -> None:
    compiler = os.environ.get("CC", "cc")
    (project / "kernels.c").write_text("int answer(void) { return 42; }\n")
    (project / "listed.c").write_text("int answer(void); int ask(void) { return answer(); }\n")
    here = ["-shared", "-fPIC", "-L.", "-Wl,-rpath,$ORIGIN"]
    for words in (["kernels.c", "-o", "libkernels.so"], ["listed.c", "-lkernels", "-o", "liblisted.so"]):
        subprocess.run([compiler, words[0], *here, *words[1:]], cwd=project, check=True)
    (project / "opgate.toml").write_text(
        'libraries = ["libopgate_changes.so", "liblisted.so"]\nledger = "ledger"\n'
    )
    run(opgate, project)
    assert_refused(opgate("accept", folder=project), "has only some checks")
    append(project / "libkernels.so", "another build")
    assert_refused(opgate("accept", folder=project), "is out of date", "libkernels.so")
    results = project / ".opgate" / "results.jsonl"
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:-1]))
    assert_refused(opgate("run", "--resume", *WORDS, folder=project), "other builds of the libraries")


def test_a_python_module_counts(opgate: OpGate, project: Path) -> None:
    (project / "my_models.py").write_text("ANSWER = 42\n")
    with (project / "opgate.toml").open("a") as config:
        config.write('python = ["my_models"]\npython_path = ["."]\n')
    run(opgate, project)
    (project / "my_models.py").write_text("ANSWER = 43\n")
    assert_refused(opgate("accept", folder=project), "is out of date", "my_models.py")


@pytest.mark.long
def test_what_the_specs_consist_of_counts(opgate: OpGate, project: Path) -> None:
    """Modules that the listed ones import, new and removed modules of a package, and samples in files."""
    (project / "specs").mkdir()
    (project / "specs" / "__init__.py").write_text("import tolerances\n")
    (project / "tolerances.py").write_text("CLOSE = 1\n")
    (project / "seen").mkdir()
    config = project / "opgate.toml"
    listed = config.read_text() + 'python_path = ["."]\nregressions = "seen"\n'
    config.write_text(listed + 'python = ["specs"]\n')
    results = ["gate", "--results", ".opgate/results.jsonl"]
    (project / "ledger").mkdir()

    run(opgate, project)
    (project / "tolerances.py").write_text("CLOSE = 1000\n")
    assert_refused(opgate(*results, folder=project), "is out of date", "tolerances.py is another one now")

    run(opgate, project)
    (project / "specs" / "more.py").write_text("")
    assert_refused(opgate(*results, folder=project), "has no results of ", "more.py")

    run(opgate, project)
    (project / "specs" / "more.py").unlink()
    assert_refused(opgate(*results, folder=project), "is out of date", "more.py is gone")

    run(opgate, project)
    (project / "seen" / "one.json").write_text("{}")
    assert_refused(opgate(*results, folder=project), "has no results of ", "one.json")


def two_copies(
    project: Path, tmp_path: Path, promises: str, *, listed: str = "promises"
) -> tuple[Path, Path]:
    """Two copies of the project. Each finds its modules beside its folder, and not below it."""
    with (project / "opgate.toml").open("a") as config:
        config.write(f'python = ["{listed}"]\npython_path = ["../python"]\n')
    (project / "ledger").mkdir()
    copies = []
    for name in ("first", "second"):
        shutil.copytree(project, tmp_path / name / "project")
        modules = tmp_path / name / "python"
        modules.mkdir()
        (modules / "promises.py").write_text(promises)
        (modules / "more_promises.py").write_text("import promises\n")
        copies.append(tmp_path / name / "project")
    return copies[0], copies[1]


def results_of(copy: Path) -> tuple[str, str, Path]:
    return ("gate", "--results", copy / ".opgate" / "results.jsonl")


def test_modules_of_another_copy_are_compared(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    """The modules that the run read are where they were, and not those that this copy has."""
    wide, narrow = two_copies(project, tmp_path, "import tolerances\n")
    (wide.parent / "python" / "tolerances.py").write_text("CLOSE = 1000\n")
    (narrow.parent / "python" / "tolerances.py").write_text("CLOSE = 1\n")
    run(opgate, wide)
    here = str(narrow.parent / "python" / "tolerances.py")
    assert_refused(opgate(*results_of(wide), folder=narrow), "is out of date", here, "is another one now")
    (narrow.parent / "python" / "tolerances.py").write_text("CLOSE = 1000\n")
    result = opgate(*results_of(wide), folder=narrow)
    assert "is out of date" not in result.stderr, result
    (wide.parent / "python" / "tolerances.py").write_text("CLOSE = 2\n")  # this copy's is as the run read it
    result = opgate(*results_of(wide), folder=narrow)
    assert "is out of date" not in result.stderr, result


def test_a_module_that_only_one_copy_lists_is_refused(opgate: OpGate, project: Path, tmp_path: Path) -> None:
    first, second = two_copies(project, tmp_path, "")
    config = second / "opgate.toml"
    config.write_text(config.read_text().replace('"promises"', '"more_promises"'))
    run(opgate, first)
    assert_refused(opgate(*results_of(first), folder=second), "has no results of ", "more_promises")
    config.write_text(config.read_text().replace('"more_promises"', '"promises", "more_promises"'))
    run(opgate, second)
    assert_refused(
        opgate(*results_of(second), folder=first), "is out of date", "more_promises", "no longer lists"
    )


def test_a_new_module_of_a_package_elsewhere_is_refused(
    opgate: OpGate, project: Path, tmp_path: Path
) -> None:
    first, second = two_copies(project, tmp_path, "", listed="bundle")
    for copy in (first, second):
        (copy.parent / "python" / "bundle").mkdir()
        (copy.parent / "python" / "bundle" / "__init__.py").write_text("")
    run(opgate, first)
    (second.parent / "python" / "bundle" / "narrow.py").write_text("")
    assert_refused(opgate(*results_of(first), folder=second), "has no results of ", "narrow.py")


def test_unused_modules_of_an_imported_package_do_not_count(opgate: OpGate, project: Path) -> None:
    """Only of the listed packages all modules are read."""
    (project / "tables").mkdir()
    for name in ("__init__", "used", "unused"):
        (project / "tables" / f"{name}.py").write_text("")
    (project / "promises.py").write_text("import tables.used\n")
    with (project / "opgate.toml").open("a") as config:
        config.write('python = ["promises"]\npython_path = ["."]\n')
    run(opgate, project)
    result = opgate("accept", folder=project)
    assert_refused(result, "has only some checks")
