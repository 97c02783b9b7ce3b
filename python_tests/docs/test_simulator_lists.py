"""Lists of the simulator that something outside of its code must agree with."""

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

RUNTIMES = (
    Path(sysconfig.get_path("purelib")) / "nvidia/cu13/lib/libcudart.so.13",
    Path("/usr/local/cuda/lib64/libcudart.so.13"),
)


def test_the_runtimes_list_has_what_the_true_one_exports(source: Path) -> None:
    listed = (source / "conformance/simulator/runtime/functions.txt").read_text().splitlines()
    names = [line for line in listed if not line.startswith("#")]
    assert names == sorted(set(names))
    libraries = [library for library in RUNTIMES if library.exists()]
    if not libraries:
        pytest.skip("there is no libcudart.so.13 of NVIDIA's")
    for library in libraries:
        command = ["nm", "--dynamic", "--defined-only", "--without-symbol-versions", str(library)]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" [TWi] (_*cuda\w+)$", symbols, re.MULTILINE))
        assert len(exported) > 400
        assert exported - set(names) == set(), library
