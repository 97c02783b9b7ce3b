"""The engine that an installed OpGate chooses by the torch that is there, and `opgate engine`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

RELEASES = ("2.11", "2.15")
BINDING = f"_engine{EXTENSION_SUFFIXES[0]}"
PROGRAM = '#!/bin/sh\necho "$0" "$@" LD_LIBRARY_PATH="$LD_LIBRARY_PATH"\n'
# What an engine's sources do, without a compiler: they install a program and a binding.
BUILDS = """cmake_minimum_required(VERSION 3.28)
project(Engine LANGUAGES NONE)
install(PROGRAMS opgate DESTINATION bin COMPONENT engine)
install(FILES binding DESTINATION . RENAME {binding} COMPONENT engine)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site(source: Path, tmp_path: Path) -> Path:
    """A folder of installed packages: OpGate with engines for two releases, whose program prints its path."""
    site = tmp_path / "site packages"
    package = shutil.copytree(
        source / "conformance" / "python" / "opgate", site / "opgate", ignore=shutil.ignore_patterns("*.so")
    )
    for release in RELEASES:
        engine = package / "built" / f"torch-{release}"
        (engine / "bin").mkdir(parents=True)
        (engine / BINDING).write_text("no library")
        (engine / "bin" / "opgate").write_text(PROGRAM)
        (engine / "bin" / "opgate").chmod(0o755)
    (site / "opgate-0.1.0.dist-info").mkdir()
    (site / "opgate-0.1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: opgate\nVersion: 0.1.0\n"
    )
    return site


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    def run(*words: str, code: str = "import opgate.program as p; p.main()", **variables: str) -> object:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"},
            "PYTHONPATH": str(site),
            "XDG_CACHE_HOME": str(tmp_path / "a cache"),
            **variables,
        }
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def install_torch(site: Path, version: str) -> Path:
    torch = site / "torch"
    torch.mkdir(parents=True, exist_ok=True)
    (torch / "__init__.py").write_text("raise ImportError('it is only looked at')\n")
    (torch / "version.py").write_text(f"__version__ = '{version}'\ngit_version = 'abcdef0123456789'\n")
    return torch


def write_sources(site: Path, cmake: str = BUILDS) -> None:
    sources = site / "opgate" / "sources"
    sources.mkdir()
    (sources / "CMakeLists.txt").write_text(cmake.format(binding=BINDING))
    (sources / "opgate").write_text(PROGRAM)
    (sources / "binding").write_text("no library")


@pytest.mark.parametrize(
    ("version", "release"),
    [("2.15.0", "2.15"), ("2.15.1", "2.15"), ("2.15.0+cu126", "2.15"), ("2.11.0+cpu", "2.11")],
)
def test_all_builds_of_a_release_have_one_engine(run: Run, site: Path, version: str, release: str) -> None:
    install_torch(site, version)
    done = run("run", "--op", "a b")
    assert done.returncode == 0, done
    assert done.stdout.startswith(f"{site}/opgate/built/torch-{release}/bin/opgate run --op a b ")
    assert done.stdout.endswith("LD_LIBRARY_PATH=\n"), "torch is beside the package"


def test_torch_may_be_elsewhere(run: Run, site: Path, tmp_path: Path) -> None:
    torch = install_torch(tmp_path / "of the system", "2.15.0")
    done = run(PYTHONPATH=os.pathsep.join([str(site), str(torch.parent)]))
    assert done.stdout.endswith(f"LD_LIBRARY_PATH={torch}/lib\n"), done


def test_two_torches_are_refused(run: Run, site: Path, tmp_path: Path) -> None:
    (install_torch(site, "2.15.0") / "lib").mkdir()
    other = install_torch(tmp_path / "another", "2.11.0")
    done = run("run", PYTHONPATH=os.pathsep.join([str(other.parent), str(site)]))
    assert done.returncode == 2, done
    assert (
        f"there are two torches: Python imports {other}, and {site}/torch lies beside OpGate" in done.stderr
    )
    assert run("run", PYTHONPATH=os.pathsep.join([str(site), str(other.parent)])).returncode == 0


def test_an_engine_that_does_not_load_is_named(run: Run, site: Path) -> None:
    torch = install_torch(site, "2.15.0")
    imported = run(code="import opgate._engine")
    binding = site / "opgate" / "built" / "torch-2.15" / BINDING
    assert f"opgate: the engine {binding} does not load with torch 2.15.0 of {torch}: " in imported.stderr
    assert "run `opgate engine build`" in imported.stderr


@pytest.mark.parametrize("version", ["2.14.0", "2.16.0.dev20270101+cu130", "2.15.0a0+gitabcdef0", "3.0.0"])
def test_an_unknown_torch_is_refused_with_the_command_that_helps(run: Run, site: Path, version: str) -> None:
    install_torch(site, version)
    done = run("run")
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr == (
        f"opgate: this OpGate has no engine for torch {version}. It has engines for torch 2.11, 2.15. "
        "Run `opgate engine build`, which compiles one in some minutes\n"
    )


def test_a_torch_that_is_too_old_is_refused(run: Run, site: Path) -> None:
    install_torch(site, "2.9.1+cu128")
    done = run("run")
    assert done.returncode == 2, done
    assert "torch 2.9.1+cu128 is too old: OpGate needs 2.11 or newer." in done.stderr
    assert run("engine", "build").returncode == 2


def test_no_torch_is_refused(run: Run) -> None:
    # Isolated from the environment's packages, torch among them.
    isolate = "import sys; sys.path[:] = [each for each in sys.path if 'site-packages' not in each]"
    done = run(code=f"{isolate}; import opgate.engines.choice as c; c.supported_torch()")
    assert f"NoEngineError: {sys.executable} has no torch: install the one" in done.stderr, done


def test_another_python_is_refused(run: Run, site: Path) -> None:
    install_torch(site, "2.15.0")
    (site / "opgate" / "built" / "torch-2.15" / BINDING).rename(site / "opgate" / "built" / "other.so")
    here = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    done = run("run")
    assert done.returncode == 2, done
    assert f"has no engine for torch 2.15.0 with {here}." in done.stderr
    imported = run(code="import opgate._engine")
    assert f"ImportError: opgate: this OpGate has no engine for torch 2.15.0 with {here}." in imported.stderr


def test_an_engine_is_built_once_and_used(run: Run, site: Path, tmp_path: Path) -> None:
    version = "2.16.0.dev20270101"
    install_torch(site, version)
    write_sources(site)
    built = run("engine", "build")
    assert built.returncode == 0, built
    assert f"opgate: compiling the engine for torch {version}" in built.stderr
    engine = (
        tmp_path
        / "a cache"
        / "opgate"
        / "engines"
        / "0.1.0"
        / f"torch-{version}-abcdef01-{sys.implementation.cache_tag}"
    )
    assert run("run").stdout.startswith(f"{engine}/bin/opgate run ")
    assert (engine / "python" / "opgate").resolve() == (site / "opgate").resolve(), (
        "its program finds the checks"
    )
    assert f"used here: {engine}" in run("engine", "list").stdout
    again = run("engine", "build")
    assert again.returncode == 0
    assert "fits torch" in again.stderr
    # Another build of the same version has another engine.
    (site / "torch" / "version.py").write_text(
        f"__version__ = '{version}'\ngit_version = 'fedcba9876543210'\n"
    )
    assert run("run").returncode == 2


@pytest.mark.parametrize(
    ("cmake", "reported"),
    [
        ('message(FATAL_ERROR "OpGate: no such thing")', "OpGate: no such thing"),
        (BUILDS.replace("{binding}", "other"), "made no binding"),
    ],
)
def test_a_build_that_fails_leaves_no_engine(
    run: Run, site: Path, tmp_path: Path, cmake: str, reported: str
) -> None:
    install_torch(site, "3.0.0")
    write_sources(site, cmake)
    built = run("engine", "build")
    assert built.returncode == 2, built
    assert reported in built.stderr
    assert "build.log" in built.stderr
    assert [each.name for each in (tmp_path / "a cache" / "opgate" / "engines" / "0.1.0").iterdir()] == [
        "building"
    ]
    assert run("run").returncode == 2


def test_a_cache_that_cannot_be_written_is_named(run: Run, site: Path) -> None:
    install_torch(site, "3.0.0")
    write_sources(site)
    built = run("engine", "build", XDG_CACHE_HOME="/proc/no place")
    assert built.returncode == 2, built
    assert built.stderr.endswith("set XDG_CACHE_HOME to a folder with a gigabyte to spare\n")
    assert "cannot write /proc/no place" in built.stderr
    assert len(built.stderr.splitlines()) == 2


def test_what_a_build_needs_is_named(run: Run, site: Path) -> None:
    install_torch(site, "3.0.0")
    assert "has no sources" in run("engine", "build").stderr
    write_sources(site)
    built = run("engine", "build", CXX="/no compiler")
    assert built.returncode == 2, built
    assert "there is no C++ compiler /no compiler: install g++ 11 or newer" in built.stderr


def test_an_old_cmake_is_named(run: Run, site: Path, tmp_path: Path) -> None:
    install_torch(site, "3.0.0")
    write_sources(site)
    old = tmp_path / "old programs"
    old.mkdir()
    (old / "cmake").write_text("#!/bin/sh\necho cmake version 3.25.1\n")
    (old / "cmake").chmod(0o755)
    # The interpreter's own folder comes first, so that it must be another one.
    code = f"import sys; sys.executable = {str(old / 'python')!r}; import opgate.program as p; p.main()"
    built = run("engine", "build", code=code)
    assert built.returncode == 2, built
    assert f"{old}/cmake is cmake 3.25, which is too old: pip install cmake" in built.stderr


def test_a_build_waits_for_another_one(run: Run, site: Path, tmp_path: Path) -> None:
    import fcntl

    install_torch(site, "3.0.0")
    write_sources(site)
    work = tmp_path / "a cache" / "opgate" / "engines" / "0.1.0" / "building"
    work /= f"torch-3.0.0-abcdef01-{sys.implementation.cache_tag}"
    work.mkdir(parents=True)
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = {**os.environ, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path / "a cache")}
        command = [sys.executable, "-c", "import opgate.program as p; p.main()", "engine", "build"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            lines = [process.stderr.readline() for _ in range(2)]
            assert "another process builds this engine; waiting for it" in lines[1]
            fcntl.flock(lock, fcntl.LOCK_UN)
            process.communicate(timeout=120)
    assert process.returncode == 0


def test_help_and_wrong_commands(run: Run) -> None:
    assert "compile the engine for the torch that is here" in run("engine", "--help").stdout
    wrong = run("engine", "destroy")
    assert wrong.returncode == 2
    assert "invalid choice: 'destroy'" in wrong.stderr
