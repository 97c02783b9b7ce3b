"""The GitHub Action: its step, run in a plain shell, with a small plan and a made-up GitHub."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness import Completed, git

pytestmark = pytest.mark.long

SMALL = "--op identity_conv --check value.dtype value.layout"
MARK = "<!-- OpGate -->\n"


class GitHub(http.server.ThreadingHTTPServer):
    """Keeps the comments of one pull request; refuses to write them if it is `read_only`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Api)
        self.comments = [{"id": 7, "body": "Looks good to me."}]
        self.read_only = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Api(http.server.BaseHTTPRequestHandler):
    server: GitHub

    def answer(self, status: int, content: Any) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def body(self) -> str:
        assert self.headers["Authorization"] == "Bearer a token"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self) -> None:
        assert self.path.startswith("/repos/someone/ops/issues/12/comments?")
        self.answer(200, self.server.comments if self.path.endswith("page=1") else [])

    def do_POST(self) -> None:
        if self.server.read_only:
            self.answer(403, {})
            return
        self.server.comments.append({"id": 8, "body": self.body()})
        self.answer(201, {})

    def do_PATCH(self) -> None:
        assert self.path == "/repos/someone/ops/issues/comments/8"
        self.server.comments[-1]["body"] = self.body()
        self.answer(200, {})

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def github() -> Iterator[GitHub]:
    server = GitHub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def action(source: Path) -> dict[str, Any]:
    return yaml.safe_load((source / "action" / "action.yml").read_text())


class Step:
    """The step of the action that runs a script, in a checkout, as a runner would run it."""

    def __init__(self, action: dict[str, Any], source: Path, checkout: Path, programs: Path) -> None:
        (self.step,) = [step for step in action["runs"]["steps"] if "run" in step]
        self.inputs = {name: str(value.get("default", "")) for name, value in action["inputs"].items()}
        self.inputs |= {"accepted": "false", "token": "a token"}
        self.checkout = checkout
        self.environment = {
            "GITHUB_ACTION_PATH": str(source / "action"),
            "GITHUB_REPOSITORY": "someone/ops",
            "GITHUB_STEP_SUMMARY": str(checkout.parent / "summary.md"),
            "GITHUB_OUTPUT": str(checkout.parent / "outputs"),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }

    def __call__(self, *, pull_request: bool = True, **inputs: str) -> Completed:
        values = {f"inputs.{name}": value for name, value in (self.inputs | inputs).items()}
        values["github.event.pull_request.number"] = "12" if pull_request else ""
        given = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda word: values[word[1]], text)
            for name, text in self.step["env"].items()
        }
        for file in ("summary.md", "outputs"):
            (self.checkout.parent / file).write_text("")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", self.step["run"]],
            cwd=self.checkout,
            env={
                **os.environ,
                **self.environment,
                **given,
                "GITHUB_BASE_REF": "main" if pull_request else "",
            },
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.checkout.parent / "outputs").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    @property
    def summary(self) -> str:
        return (self.checkout.parent / "summary.md").read_text()


@pytest.fixture(scope="module")
def accepted(build: Path, identity_project: Callable[[], Path]) -> Path:
    """A repository whose branch main has an accepted ledger."""
    upstream = identity_project()
    with (upstream / "opgate.toml").open("a") as configuration:
        configuration.write('ledger = "ledger"\n')

    def opgate(*words: str | Path) -> None:
        subprocess.run([build / "bin" / "opgate", *words], cwd=upstream, check=True, capture_output=True)

    opgate("run", *SMALL.split())
    results = upstream / ".opgate" / "results.jsonl"
    header, *lines = results.read_text().splitlines()
    whole = json.loads(header)
    whole["filter"]["checks"] = []  # a part of a run cannot be accepted
    results.write_text("\n".join([json.dumps(whole), *lines, ""]))
    opgate("accept")
    (upstream / ".gitignore").write_text(".opgate/\n")
    git(upstream, "init", "--quiet", "--initial-branch", "main")
    git(upstream, "add", ".")
    git(upstream, "commit", "--quiet", "--message", "accepted")
    return upstream


@pytest.fixture
def step(
    action: dict[str, Any], source: Path, build: Path, accepted: Path, tmp_path: Path, github: GitHub
) -> Step:
    """The step in a clone of the repository."""
    programs = tmp_path / "the programs"
    programs.mkdir()
    program = programs / "opgate"
    real = f"'{build}/bin/opgate'"
    program.write_text(f'#!/bin/sh\n[ "$1" != gate ] || exec {real} "$@" {SMALL}\nexec {real} "$@"\n')
    program.chmod(0o755)
    upstream = shutil.copytree(accepted, tmp_path / "upstream")
    checkout = tmp_path / "work" / "a checkout"
    checkout.parent.mkdir()
    # As actions/checkout leaves it: one commit, and no branches of the remote.
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{upstream}", str(checkout))
    git(checkout, "update-ref", "-d", "refs/remotes/origin/main")
    made = Step(action, source, checkout, programs)
    made.environment["GITHUB_API_URL"] = github.address
    return made


def test_a_change_is_accepted_and_reported(step: Step, github: GitHub) -> None:
    result = step()
    assert result.returncode == 0, result
    assert step.outputs["verdict"] == "accepted"
    report = Path(step.outputs["report"])
    assert {file.name for file in report.iterdir()} == {
        "page.html",
        "junit.xml",
        "opgate.sarif",
        "comment.md",
    }
    json.loads((report / "opgate.sarif").read_text())
    comment = (report / "comment.md").read_text()
    assert step.summary == comment
    assert [one["body"] for one in github.comments] == ["Looks good to me.", MARK + comment]
    assert "base: ledger ledger of origin/main (" in result.stdout

    assert step(comment="false").returncode == 0
    assert len(github.comments) == 2
    assert step().returncode == 0
    assert len(github.comments) == 2, "the comment is replaced"


def test_a_change_that_is_refused_fails_the_step(step: Step, github: GitHub) -> None:
    # Since the change was made, main has promised what the change does not: its own ledger does not count.
    upstream = Path(git(step.checkout, "remote", "get-url", "origin").removeprefix("file://"))
    ledger = upstream / "ledger" / "identity_conv.toml"
    ledger.write_text(ledger.read_text().replace("tags = [", 'tags = ["needs_fixed_stride_order", '))
    git(upstream, "commit", "--quiet", "--all", "--message", "a promise")
    github.read_only = True
    result = step()
    assert result.returncode == 1, result
    assert step.outputs["verdict"] == "refused"
    assert "the tag needs\\_fixed\\_stride\\_order is gone" in step.summary
    assert "::warning title=OpGate::the comment was not written" in result.stdout
    assert "pull-requests: write" in result.stderr
    assert step(accepted="true").returncode == 0


def test_on_a_push_nothing_is_fetched_and_nothing_commented(step: Step, github: GitHub) -> None:
    git(step.checkout, "remote", "remove", "origin")
    result = step(pull_request=False)
    assert result.returncode == 0, result
    assert step.outputs["verdict"] == "accepted"
    assert len(github.comments) == 1


def test_a_first_configuration_is_judged_by_its_own_ledger(step: Step) -> None:
    (step.checkout / "opgate.toml").rename(step.checkout / "new.toml")
    result = step(config="new.toml")
    assert result.returncode == 0, result
    assert "main has no new.toml yet: the change is judged by its own ledger" in result.stdout


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"config": "no.toml"}, "there is no no.toml in "),
        ({"build": "echo building; exit 3"}, "the build failed: echo building; exit 3"),
        ({"options": "--no-such-option"}, "opgate gate ended with status 2"),
        ({"wheel": "./no.whl"}, "pip cannot install ./no.whl"),
    ],
)
def test_what_is_wrong_is_named(step: Step, inputs: dict[str, str], message: str) -> None:
    result = step(**inputs)
    assert result.returncode == 2, result
    assert f"::error title=OpGate::{message}" in result.stdout
    assert step.outputs["verdict"] == "error"


def test_an_option_may_have_spaces(step: Step) -> None:
    result = step(options="--no-sim --results 'not here.jsonl'")
    assert result.returncode == 2, result
    assert "not here.jsonl" in result.stderr


@pytest.fixture
def small_wheel(step: Step, build: Path, tmp_path: Path) -> Path:
    """A wheel whose program is the one of this build; the step runs in an environment without it."""
    venv = tmp_path / "venv"
    subprocess.run(["python3", "-m", "venv", venv], check=True)
    wheel = tmp_path / "opgate-9-py3-none-any.whl"
    programs = Path(step.environment["PATH"].split(":")[0])
    with zipfile.ZipFile(wheel, "w") as file:
        script = zipfile.ZipInfo("opgate-9.data/scripts/opgate")
        script.external_attr = 0o100755 << 16  # a file that may be run
        file.writestr(script, (programs / "opgate").read_text())
        file.writestr("opgate-9.dist-info/METADATA", "Metadata-Version: 2.1\nName: opgate\nVersion: 9\n")
        file.writestr(
            "opgate-9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr("opgate-9.dist-info/RECORD", "")
    shutil.rmtree(programs)
    # Neither this build's program nor another one is on the path.
    step.environment["PATH"] = f"{venv / 'bin'}:/usr/bin:/bin"
    return wheel


def test_it_installs_the_wheel_that_is_named(step: Step, small_wheel: Path, tmp_path: Path) -> None:
    assert step(wheel=str(small_wheel)).returncode == 0
    assert (tmp_path / "venv" / "bin" / "opgate").exists()


def test_a_release_installs_its_wheel_if_the_hash_is_right(
    step: Step, small_wheel: Path, source: Path, tmp_path: Path
) -> None:
    release = shutil.copytree(source / "action", tmp_path / "the action")
    step.environment["GITHUB_ACTION_PATH"] = str(release)
    right = hashlib.sha256(small_wheel.read_bytes()).hexdigest()
    wrong = hashlib.sha256(b"another file").hexdigest()
    (release / "release.txt").write_text(f"opgate @ {small_wheel.as_uri()}#sha256={wrong}\n")
    result = step()
    assert result.returncode == 2, result
    assert "::error title=OpGate::pip cannot install opgate @ file:///" in result.stdout
    assert not (tmp_path / "venv" / "bin" / "opgate").exists()
    (release / "release.txt").write_text(f"opgate @ {small_wheel.as_uri()}#sha256={right}\n")
    assert step().returncode == 0
    assert (tmp_path / "venv" / "bin" / "opgate").exists()


def test_nothing_is_installed_that_the_workflow_has_not_named(step: Step, tmp_path: Path) -> None:
    """No package index has OpGate: whoever takes the name there would run code in each workflow."""
    programs = Path(step.environment["PATH"].split(":")[0])
    (programs / "opgate").unlink()
    for name in ("python3", "pip"):
        (programs / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/installed'\n")
        (programs / name).chmod(0o755)
    step.environment["PATH"] = f"{programs}:/usr/bin:/bin"
    result = step()
    assert result.returncode == 2, result
    assert (
        "::error title=OpGate::there is no opgate on the path, and this commit of the action is no release"
        in result.stdout
    )
    assert not (tmp_path / "installed").exists()


def test_each_variable_that_the_action_sets_is_read(action: dict[str, Any], source: Path) -> None:
    (step,) = [step for step in action["runs"]["steps"] if "run" in step]
    scripts = [(source / "action" / name).read_text() for name in ("run.sh", "install.sh", "comment.py")]
    read = set(re.findall(r"OPGATE_ACTION_[A-Z_]*[A-Z]", "".join(scripts)))
    assert read == set(step["env"])
    given = set(re.findall(r"inputs\.(\w+)", json.dumps(action["runs"])))
    assert given == set(action["inputs"])
