"""A call of the same id gets the same arguments as before, or their revision is raised."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

# In a process of its own, because an engine keeps what it has loaded.
DIGEST = """
import hashlib, sys
import torch
from opgate import _engine

torch.ops.load_library(sys.argv[1])
_engine.load([sys.argv[2]], "[]")
digests = {}

def add(digest, value):
    if isinstance(value, list | tuple):
        for part in value:
            add(digest, part)
    elif isinstance(value, torch.Tensor):
        geometry = value.size(), value.stride(), value.storage_offset()
        digest.update(str((value.dtype, geometry, value.is_conj(), value.is_neg())).encode())
        plain = value.resolve_conj().resolve_neg().contiguous()
        digest.update(plain.view(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b"-")
    else:
        digest.update(repr(value).encode())

calls = [call for call, _ in _engine.plan("[]", ["*"], sys.argv[3]) if call.endswith("/cpu")]
for call in calls:
    digest = digests.setdefault(call.split("/")[3], hashlib.sha1())
    digest.update(call.encode())
    add(digest, _engine.arguments(call))
print(len(calls))
for variant in sorted(digests):
    print(variant, digests[variant].hexdigest()[:8])
"""


def test_arguments_are_those_of_their_revision(
    build: Path, source: Path, request: pytest.FixtureRequest
) -> None:
    libraries = [build / "lib" / f"libopgate_{name}.so" for name in ("ops", "ops_specs")]
    words = [sys.executable, "-c", DIGEST, *map(str, libraries), "opgate_ops::add.Tensor"]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    calls, *lines = ended.stdout.splitlines()
    assert int(calls) > 500
    digests = dict(line.rsplit(" ", 1) for line in lines)
    header = (source / "conformance" / "judging" / "revision.h").read_text()
    revision = int(re.findall(r"kRevisionOfArguments = (\d+);", header)[0])
    file = source / "fixtures" / "revisions" / "arguments.toml"
    kept = tomllib.loads(file.read_text())
    changed = {name for name, digest in kept["digests"].items() if digests.get(name) != digest}
    is_new = digests.keys() != kept["digests"].keys() and not changed
    if request.config.getoption("--approve") and (is_new or kept["revision"] != revision):
        table = "".join(f'"{name}" = "{digest}"\n' for name, digest in digests.items())
        file.write_text(f"revision = {revision}\n\n[digests]\n{table}")
        return
    assert kept["revision"] == revision
    assert not changed, (
        "These variants have other arguments than before. If the spec of ops/add has not changed, raise "
        "kRevisionOfArguments in judging/revision.h, so that no evidence of a GPU counts any more; then run "
        f"this test with --approve. Otherwise correct {file}"
    )
    assert not is_new, "There are other variants than before; run this test with --approve"
